import { Database } from "bun:sqlite"
import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { connect } from "../../src/client/connect.ts"
import { cliOf } from "../support/cli-of.ts"
import { filesWith } from "../support/files-with.ts"
import {
  isSigned,
  NotificationReceiver,
  TargetsFile,
  webhookSecret,
} from "../support/notification-receiver.ts"
import { Service } from "../support/service.ts"
import { clientOf, shell } from "../support/steered.ts"
import { makeToken } from "../support/tokens.ts"
import { until } from "../support/until.ts"

setDefaultTimeout(60_000)

describe("who may name a target, and see what it was told", () => {
  test("is who the target allows, and whoever owns what it is about", async () => {
    using receiver = new NotificationReceiver()
    using targets = new TargetsFile({
      hers: { kind: "webhook", url: receiver.url, used_by: "[alice]" },
      admins: { kind: "webhook", url: receiver.url },
    })
    await using service = await Service.start({ flags: targets.flags })
    const [aliceToken, bobToken, readToken] = [
      await makeToken(service.stateDir, { name: "alice" }),
      await makeToken(service.stateDir, { name: "bob" }),
      await makeToken(service.stateDir, { name: "carol", scope: "read" }),
    ]
    const url = await service.url()
    await using alice = connect({ url, token: aliceToken })
    await using bob = connect({ url, token: bobToken })
    await using carol = connect({ url, token: readToken })
    await using local = await clientOf(service)

    const hers = await alice.execute({ argv: ["true"], notify: ["hers"] })
    await hers.ended
    const ours = await local.execute({ argv: ["true"], notify: ["hers", "admins"] })
    await ours.ended
    await receiver.whenGot(3)
    await until("the service has noted that they were taken", async () => {
      const { deliveries } = await local.call("notify.list", {})
      return deliveries.every(({ state }) => state === "delivered")
    })

    for (const notify of [["admins"], ["nowhere"]]) {
      const refused = alice.execute({ argv: ["true"], notify })
      expect(refused).rejects.toThrow(`There is no target ${notify[0]} that you may name`)
    }
    expect(bob.execute({ argv: ["true"], notify: ["hers"] })).rejects.toThrow("no target hers")
    expect(bob.call("agent.start", { notify: ["hers"] })).rejects.toThrow("no target hers")
    expect(bob.call("notify.test", { target: "hers" })).rejects.toThrow("no target hers")
    expect(carol.call("notify.test", { target: "hers" })).rejects.toThrow("needs the scope")
    const url2 = ["https://attacker.example.net/"]
    expect(alice.execute({ argv: ["true"], notify: url2 })).rejects.toThrow("the name of a target")

    const aliceSees = await alice.call("notify.list", {})
    expect(aliceSees.targets.map(({ name }) => name)).toEqual(["hers"])
    expect(aliceSees.deliveries.map(({ about }) => about)).toEqual([hers.id])
    expect(await bob.call("notify.list", {})).toEqual({ targets: [], deliveries: [] })
    const other = bob.call("notify.list", { execution_id: hers.id })
    expect(other).rejects.toThrow("Unknown execution")
    const everything = await local.call("notify.list", {})
    expect(everything.deliveries).toHaveLength(3)
    const page = await local.call("notify.list", { limit: 2 })
    const { cursor = "" } = page
    const rest = await local.call("notify.list", { limit: 2, cursor })
    expect([...page.deliveries, ...rest.deliveries]).toEqual(everything.deliveries)
  })

  test("a service without targets knows none", async () => {
    await using service = await Service.start()
    const refused = await cliOf(service, "run", "--notify", "oncall", "--", "true")
    expect(refused.error).toContain("There is no target oncall")
    expect((await cliOf(service, "notify", "ls")).out).toContain("There is no target")
  })
})

describe("secrets that stand in a command, its variables, its output and the files", () => {
  test("are in no message, log, audit trail or outbox", async () => {
    const planted = "planted-sk-0123456789"
    using receiver = new NotificationReceiver()
    using targets = TargetsFile.webhook(receiver.url)
    await using service = await Service.start({
      flags: { ...targets.flags, "log-level": "trace" },
    })
    await using client = await clientOf(service)
    const env = { PLANTED: planted }
    for (const script of [`echo ${planted}`, `echo ${planted} >&2; exit 4`]) {
      const run = await client.execute({ ...shell(script), env })
      await run.ended
    }
    const missing = client.execute({ argv: [`/nowhere/${planted}`] })
    await missing.catch(() => undefined)
    await receiver.goDown()
    const late = await client.execute({ ...shell(`echo ${planted}`), env })
    await late.ended
    await until("it failed", async () => {
      const { deliveries } = await client.call("notify.list", {})
      return deliveries.some(({ state, attempt_count }) => state === "pending" && attempt_count > 1)
    })
    receiver.comeBack()
    await receiver.whenGot(3)

    const told = receiver.all.map(({ headers, text }) => JSON.stringify(headers) + text).join("\n")
    expect(told).not.toContain(planted)
    expect([...service.log, ...service.said].join("\n")).not.toContain(planted)
    const rows = rowsOf(service, "SELECT * FROM deliveries, delivery_attempts")
    expect(rows).toContain(late.id)
    expect(rows).not.toContain(planted)
    // The secret of the target itself is nowhere at all.
    expect(filesWith(service.stateDir, webhookSecret)).toEqual([])
    expect(told + service.log.join("\n")).not.toContain(webhookSecret)
  })
})

function rowsOf(service: Service, sql: string): string {
  using database = new Database(join(service.stateDir, "journal.sqlite"), { readonly: true })
  return JSON.stringify(database.query(sql).all())
}

describe("a file of targets", () => {
  test.each([
    ["secret_file: /nowhere", "target hook: /nowhere cannot be read"],
    ["url: http://example.net/", "must begin with https://"],
    ["url: ftp://127.0.0.1/", "begins with https:// or http://"],
    ["kind: pigeon", "line 3"],
    ["uses_by: [alice]", "uses_by"],
    ["events: [exploded]", "events"],
  ])("with %s is refused at the start, and told where", async (line, why) => {
    using targets = TargetsFile.webhook("http://127.0.0.1:9/")
    const [key = ""] = line.split(":")
    const lines = readFileSync(targets.path, "utf8").split("\n")
    const others = lines.filter((one) => !one.includes(` ${key}:`)).filter((one) => one !== "")
    writeFileSync(
      targets.path,
      `${[...others.slice(0, 2), `    ${line}`, ...others.slice(2)].join("\n")}\n`,
    )

    expect(Service.start({ flags: targets.flags })).rejects.toThrow(why)
  })

  test("whose secret is too short is refused", async () => {
    using targets = TargetsFile.webhook("http://127.0.0.1:9/")
    writeFileSync(targets.secretFile, "short\n")
    expect(Service.start({ flags: targets.flags })).rejects.toThrow("fewer than 16 characters")
  })

  test("may bring another secret at any time: the next message is signed with it", async () => {
    using receiver = new NotificationReceiver()
    using targets = TargetsFile.webhook(receiver.url)
    writeFileSync(targets.secretFile, "another-dummy-secret")
    await using service = await Service.start({ flags: targets.flags })
    await using client = await clientOf(service)
    await (await client.execute({ argv: ["true"] })).ended
    const [first] = await receiver.whenGot(1)
    writeFileSync(targets.secretFile, webhookSecret)
    await (await client.execute({ argv: ["true"] })).ended
    const [, second] = await receiver.whenGot(2)

    expect(first !== undefined && isSigned(first)).toBe(false)
    expect(second !== undefined && isSigned(second)).toBe(true)
  })
})
