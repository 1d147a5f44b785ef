import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { connect } from "../../src/client/connect.ts"
import { cliOf } from "../support/cli-of.ts"
import { isSigned, NotificationReceiver, TargetsFile } from "../support/notification-receiver.ts"
import { RawSession } from "../support/raw-session.ts"
import { Service } from "../support/service.ts"
import { clientOf, shell } from "../support/steered.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { makeToken } from "../support/tokens.ts"
import { runTrial, TrialGround } from "../support/trials.ts"
import { until } from "../support/until.ts"

setDefaultTimeout(60_000)

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
      link: `${await service.url("/")}#/executions/${good.id}`,
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

    const out = await until("it is on record", async () => {
      const listed = await cliOf(service, "notify", "ls")
      return /hook +webhook +0 +ok/.test(listed.out) && listed.out
    })
    expect(out.match(/delivered in/g)).toHaveLength(3)
  })

  test("says in its metrics and over HTTP what was delivered", async () => {
    using receiver = new NotificationReceiver()
    using targets = TargetsFile.webhook(receiver.url)
    await using service = await Service.start({ flags: targets.flags })
    expect((await cliOf(service, "run", "--", "true")).exitCode).toBe(0)
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

    await cliOf(service, "run", "--name", "plain", "--", "true")
    await cliOf(service, "run", "--name", "bad", "--", "false")
    await cliOf(service, "run", "--name", "red", "-l", "team=red", "--", "true")
    await cliOf(service, "run", "--name", "meant", "--notify", "named", "--", "true")
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
    await cliOf(service, "run", "-l", "team=red", "--", "sh", "-c", "echo the last line; exit 1")

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
    await cliOf(service, "run", "--", "true")

    const [received] = await receiver.whenGot(1)
    expect(received?.body.link).toMatch(/^https:\/\/build\.example\.net\/run\/executions\/\w{26}$/)
  })

  test("links to resources where there is no console", async () => {
    using receiver = new NotificationReceiver()
    using targets = new TargetsFile({ hook: TargetsFile.hook(receiver.url) })
    const env = { CC_EXECUTOR_NO_CONSOLE: "true" }
    await using service = await Service.start({ flags: targets.flags, env })
    await cliOf(service, "run", "--", "true")

    const [received] = await receiver.whenGot(1)
    expect(received?.body.link).toStartWith(`${await service.url("/executions")}/`)
  })
})

describe("a trial that does not hold", () => {
  test("is told", async () => {
    using receiver = new NotificationReceiver()
    using targets = new TargetsFile({
      all: TargetsFile.hook(`${receiver.url}/all`, { events: "[verification-broken]" }),
    })
    await using service = await Service.start({ flags: targets.flags })
    using runner = await RawSession.open(await service.url())
    using good = new TrialGround("T01_good")
    using bad = new TrialGround("T02_bad")
    expect(await runTrial(runner, good.request())).toMatchObject({ verdict: "PASSED" })
    const ended = await runTrial(runner, bad.request(bad.steps("true")))
    expect(ended).toMatchObject({ verdict: "FAILED" })

    const [{ path, body } = { path: "", body: {} }] = await receiver.whenGot(1)
    expect(path).toBe("/hook/all")
    expect(body).toMatchObject({
      event: "verification-broken",
      trial_id: ended.trial,
      name: "T02_bad",
      verdict: "FAILED",
      link: `${await service.url("/")}#/work`,
    })
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
    await cliOf(service, "run", "--name", "<!channel> & more", "--", "false")

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
    await cliOf(service, "run", "--name", "'; touch pwned", "--", "true")

    const text = await until("it was told", () => {
      const found = existsSync(told) ? readFileSync(told, "utf8") : ""
      return found.endsWith("}\n") && found
    })
    const [word = "", json = ""] = text.split("\n")
    expect(word).toBe(`$(touch ${folder.path}/pwned)`)
    expect(JSON.parse(json)).toMatchObject({ event: "ended", name: "'; touch pwned" })
    expect(existsSync(join(folder.path, "pwned"))).toBe(false)
    // It is an execution itself, and nobody is told of that one.
    const { out } = await cliOf(service, "notify", "ls", "--json")
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

    const tested = await cliOf(service, "notify", "test", "command")
    expect(tested.out).toMatch(/not delivered: .*(?:not allowed|allow)/)
    expect(tested.exitCode).toBe(1)
  })

  test("that fails is tried again, and a shell's line is refused at the start", async () => {
    await using service = await Service.start({ flags: { "notify-command": "/bin/false" } })
    await cliOf(service, "run", "--", "true")

    await until("it was tried", async () => {
      const { out } = await cliOf(service, "notify", "ls", "--state", "pending")
      return /failed (?:once|2 times).*the command exited with 1/.test(out)
    })
    const shellLine = Service.start({ flags: { "notify-command": "/bin/echo hi > /tmp/x" } })
    expect(shellLine).rejects.toThrow("no shell syntax")
  })
})
