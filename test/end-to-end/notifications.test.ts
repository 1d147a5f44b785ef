import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { connect } from "../../src/client/connect.ts"
import { filesWith } from "../support/files-with.ts"
import {
  isSigned,
  NotificationReceiver,
  TargetsFile,
  webhookSecret,
} from "../support/notification-receiver.ts"
import { executable, Service } from "../support/service.ts"
import { clientOf, shell } from "../support/steered.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { bearing, makeToken } from "../support/tokens.ts"
import { until } from "../support/until.ts"

setDefaultTimeout(60_000)

async function cli(service: Service, ...args: string[]) {
  const child = Bun.spawn([executable, ...args], {
    env: { ...process.env, CC_EXECUTOR_STATE_DIR: service.stateDir },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  })
  const [out, error] = await Promise.all([child.stdout.text(), child.stderr.text()])
  return { out, error, exitCode: await child.exited }
}

describe("a webhook that is told of everything", () => {
  test("gets every end once, signed, with a link, and no word of the command", async () => {
    using receiver = new NotificationReceiver()
    using targets = TargetsFile.webhook(receiver.url)
    await using service = await Service.start({ flags: targets.flags })
    await using client = await clientOf(service)

    const good = await client.execute({ ...shell("echo secret-word"), labels: { name: "nightly" } })
    await good.ended
    const bad = await client.execute(shell("exit 3"))
    await bad.ended
    const canceled = await client.execute(shell("sleep 1000"))
    await client.call("control", { type: "CANCEL", execution_id: canceled.id })

    const got = await receiver.whenGot(3)
    expect(got.map(({ body }) => [body.event, body["execution_id"]])).toEqual([
      ["ended", good.id],
      ["failed", bad.id],
      ["failed", canceled.id],
    ])
    expect(got.every(isSigned)).toBe(true)
    expect(got[0]?.body).toMatchObject({
      v: 1,
      name: "nightly",
      principal: "local",
      link: `${await service.url("/executions")}/${good.id}`,
      ending: { outcome: "exited", exit_code: 0, signal: null, cause: null },
    })
    expect(got[1]?.body.text).toContain("exit code 3")
    expect(got[2]?.body).toMatchObject({ ending: { outcome: "stopped", cause: "client" } })
    expect(got[0]?.headers).toMatchObject({
      "x-cc-executor-event": "ended",
      "x-cc-executor-attempt": "1",
      "x-cc-executor-delivery": got[0]?.body.id,
    })
    expect(got.map(({ text }) => text).join("")).not.toContain("secret-word")

    const { out } = await cli(service, "notify", "ls")
    expect(out).toMatch(/hook +webhook +0 +ok/)
    expect(out.match(/delivered in/g)).toHaveLength(3)
  })

  test("says in its metrics and over HTTP what was delivered", async () => {
    using receiver = new NotificationReceiver()
    using targets = TargetsFile.webhook(receiver.url)
    await using service = await Service.start({ flags: targets.flags })
    expect((await cli(service, "run", "--", "true")).exitCode).toBe(0)
    await receiver.whenGot(1)

    const settled = 'cc_executor_notifications_settled_total{target="hook",outcome="delivered"} 1'
    await until("it is counted", async () => {
      const metrics = await fetch(await service.url("/metrics"))
      return (await metrics.text()).includes(settled)
    })
    const listed = await fetch(await service.url("/notifications?target=hook&limit=1"))
    expect(await listed.json()).toMatchObject({
      targets: [{ name: "hook", kind: "webhook", pending: 0, failing_since: null }],
      deliveries: [{ target: "hook", event: "ended", state: "delivered", attempt_count: 1 }],
    })
    const tested = await fetch(await service.url("/notifications/test"), {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ target: "hook" }),
    })
    expect(await tested.json()).toMatchObject({ event: "test", state: "delivered" })
    expect(receiver.of("test")).toHaveLength(1)
  })
})

describe("what a target is told", () => {
  test("is what it is named for, what its rules say, and the events that it wants", async () => {
    using receiver = new NotificationReceiver()
    const at = (path: string) => `${receiver.url}/${path}`
    using targets = new TargetsFile({
      named: { kind: "webhook", url: at("named") },
      bad: TargetsFile.hook(at("bad"), { events: "[failed, lost]" }),
      team: TargetsFile.hook(at("team"), { sent: "\n      - labels:\n          team: red" }),
      alice: TargetsFile.hook(at("alice"), { sent: "\n      - principals: [alice]" }),
    })
    await using service = await Service.start({ flags: targets.flags })
    const token = await makeToken(service.stateDir, { name: "alice" })
    await using alice = connect({ url: await service.url(), token })

    await cli(service, "run", "--name", "plain", "--", "true")
    await cli(service, "run", "--name", "bad", "--", "false")
    await cli(service, "run", "--name", "red", "-l", "team=red", "--", "true")
    await cli(service, "run", "--name", "meant", "--notify", "named", "--", "true")
    const hers = await alice.execute({ argv: ["true"], labels: { name: "hers" } })
    await hers.ended

    await receiver.whenGot(4)
    const told = receiver.all.map(({ path, body }) => `${path.slice("/hook/".length)} ${body.name}`)
    expect(told.toSorted()).toEqual(["alice hers", "bad bad", "named meant", "team red"])
  })

  test("has the command, the labels and the output where the target asks for them", async () => {
    using receiver = new NotificationReceiver()
    using targets = TargetsFile.webhook(receiver.url, { include: "[command, labels, output]" })
    await using service = await Service.start({ flags: targets.flags })
    await cli(service, "run", "-l", "team=red", "--", "sh", "-c", "echo the last line; exit 1")

    const [{ body } = { body: {} }] = await receiver.whenGot(1)
    expect(body).toMatchObject({
      command: ["sh", "-c", "echo the last line; exit 1"],
      labels: { team: "red" },
      output: "the last line\n",
    })
  })

  test("links to where the configuration says", async () => {
    using receiver = new NotificationReceiver()
    const hook = TargetsFile.hook(receiver.url)
    using targets = new TargetsFile({ hook }, { base_url: "https://build.example.net/run/" })
    await using service = await Service.start({ flags: targets.flags })
    await cli(service, "run", "--", "true")

    const [received] = await receiver.whenGot(1)
    expect(received?.body.link).toMatch(/^https:\/\/build\.example\.net\/run\/executions\/\w{26}$/)
  })
})

describe("ntfy and Slack", () => {
  test("get what they understand, and a name says nothing to them but itself", async () => {
    using receiver = new NotificationReceiver()
    const origin = `http://127.0.0.1:${receiver.port}`
    using folder = temporaryFolder()
    writeFileSync(join(folder.path, "token"), "tk_dummy\n")
    writeFileSync(join(folder.path, "url"), `${origin}/services/dummy\n`)
    using targets = new TargetsFile({
      phone: {
        kind: "ntfy",
        url: `${origin}/alerts`,
        token_file: join(folder.path, "token"),
        sent: "always",
      },
      chat: { kind: "slack", url_file: join(folder.path, "url"), sent: "always" },
    })
    await using service = await Service.start({ flags: targets.flags })
    await cli(service, "run", "--name", "<!channel> & more", "--", "false")

    await receiver.whenGot(2)
    const phone = receiver.all.find(({ path }) => path === "/")
    const chat = receiver.all.find(({ path }) => path === "/services/dummy")
    expect(phone?.headers).toMatchObject({ authorization: "Bearer tk_dummy" })
    expect(JSON.parse(phone?.text ?? "")).toMatchObject({
      topic: "alerts",
      priority: 4,
      title: expect.stringMatching(/^<!channel> & more \(\w{8}\) failed$/),
      click: expect.stringContaining("/executions/"),
    })
    expect(JSON.parse(chat?.text ?? "")).toEqual({
      text: expect.stringMatching(
        /^\*&lt;!channel&gt; &amp; more .*\n.*exit code 1.*\n<http.*\|Open>$/,
      ),
    })
  })
})

describe("a command that is told of everything", () => {
  test("gets the message on its standard input, and no shell sees a word", async () => {
    using folder = temporaryFolder()
    const program = join(folder.path, "tell")
    const told = join(folder.path, "told")
    writeFileSync(program, `#!/bin/sh\necho "$1" >> ${told}\ncat >> ${told}\n`)
    chmodSync(program, 0o755)
    await using service = await Service.start({
      flags: { "notify-command": `${program} '$(touch ${folder.path}/pwned)'` },
    })
    await cli(service, "run", "--name", "'; touch pwned", "--", "true")

    const text = await until("it was told", () => {
      const found = existsSync(told) ? readFileSync(told, "utf8") : ""
      return found.endsWith("}\n") && found
    })
    const [word = "", json = ""] = text.split("\n")
    expect(word).toBe(`$(touch ${folder.path}/pwned)`)
    expect(JSON.parse(json)).toMatchObject({ event: "ended", name: "'; touch pwned" })
    expect(existsSync(join(folder.path, "pwned"))).toBe(false)
    // It is an execution itself, and nobody is told of that one.
    const { out } = await cli(service, "notify", "ls", "--json")
    expect(JSON.parse(out)).toMatchObject({ deliveries: [{ target: "command" }] })
  })

  test("is under the policy, which says why it does not run", async () => {
    using folder = temporaryFolder()
    const program = join(folder.path, "tell")
    writeFileSync(program, "#!/bin/sh\ncat > /dev/null\n")
    chmodSync(program, 0o755)
    await using service = await Service.start({
      flags: { "notify-command": program, "allowed-commands": "true" },
    })

    const tested = await cli(service, "notify", "test", "command")
    expect(tested.out).toMatch(/not delivered: .*(?:not allowed|allow)/)
    expect(tested.exitCode).toBe(1)
  })

  test("that fails is tried again, and a shell's line is refused at the start", async () => {
    await using service = await Service.start({ flags: { "notify-command": "/bin/false" } })
    await cli(service, "run", "--", "true")

    await until("it was tried", async () => {
      const { out } = await cli(service, "notify", "ls", "--state", "pending")
      return /failed (?:once|2 times).*the command exited with 1/.test(out)
    })
    const shellLine = Service.start({ flags: { "notify-command": "/bin/echo hi > /tmp/x" } })
    expect(shellLine).rejects.toThrow("no shell syntax")
  })
})

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
    const refused = await cli(service, "run", "--notify", "oncall", "--", "true")
    expect(refused.error).toContain("There is no target oncall")
    expect((await cli(service, "notify", "ls")).out).toContain("There is no target")
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
      const { deliveries } = await client.call("notify.list", { execution_id: late.id })
      return (deliveries[0]?.attempt_count ?? 0) > 1
    })
    receiver.comeBack()
    await receiver.whenGot(3)

    const told = receiver.all.map(({ headers, text }) => JSON.stringify(headers) + text).join("\n")
    expect(told).not.toContain(planted)
    expect([...service.log, ...service.said].join("\n")).not.toContain(planted)
    const outbox = new Bun.Glob("journal.sqlite*")
    expect([...outbox.scanSync(service.stateDir)].length).toBeGreaterThan(0)
    const rows = await rowsOf(service, "SELECT * FROM deliveries, delivery_attempts")
    expect(rows).toContain(late.id)
    expect(rows).not.toContain(planted)
    // The secret of the target itself is nowhere at all.
    expect(filesWith(service.stateDir, webhookSecret)).toEqual([])
    expect(told + service.log.join("\n")).not.toContain(webhookSecret)
  })
})

async function rowsOf(service: Service, sql: string): Promise<string> {
  const { Database } = await import("bun:sqlite")
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
