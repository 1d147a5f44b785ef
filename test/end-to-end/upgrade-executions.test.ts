import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Client } from "../../src/client/connect.ts"
import { describeAContainment } from "../support/each-containment.ts"
import { filesWith } from "../support/files-with.ts"
import { runIndependently } from "../support/independent-run.ts"
import { expectNothingLeftOf, identify, isStillThere, ticksOf } from "../support/real-processes.ts"
import { byScale } from "../support/scale.ts"
import { executable, Service } from "../support/service.ts"
import { clientOf, fixture, Steered, shell } from "../support/steered.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { until } from "../support/until.ts"
import { upgraded } from "../support/upgraded.ts"

setDefaultTimeout(60_000)

type Aboard = { service: Service; client: Client }

/** One upgrade for several tests: all that they stage runs before it, all that they check after. */
function sharedUpgrade(flags: Record<string, string>) {
  const kept = new AsyncDisposableStack()
  const stages: Array<(aboard: Aboard) => Promise<void>> = []

  beforeAll(async () => {
    const service = kept.use(await Service.start({ flags }))
    const client = kept.use(await clientOf(service))
    for (const stage of stages) await stage({ service, client })
    await upgraded(service)
  })
  afterAll(() => kept.disposeAsync())

  return <Staged>(
    behaviour: string,
    stage: (aboard: Aboard) => Promise<Staged>,
    check: (staged: Staged, aboard: Aboard) => Promise<void>,
  ): void => {
    // What cannot be staged fails its own test, and no other.
    const staged = Promise.withResolvers<() => Promise<void>>()
    staged.promise.catch(() => undefined)
    stages.push(async (aboard) => {
      const ready = stage(aboard).then((one) => () => check(one, aboard))
      await ready.then(staged.resolve, staged.reject)
    })
    test(behaviour, async () => (await staged.promise)())
  }
}

describeAContainment("through one upgrade", (containment) => {
  const through = sharedUpgrade({ containment })

  through(
    "a terminal stays one: typed input, its size, Ctrl-C and the exit code",
    async ({ client }) => {
      const script =
        "trap 'echo interrupted; exit 6' INT; trap 'stty size' WINCH; echo ready; " +
        'while :; do read -r line && echo "got $line"; done'
      const terminal = { cols: 80, rows: 24 }
      const run = await Steered.start(client, { ...shell(script), terminal })
      await run.untilLine(/^ready$/)
      await run.execution.write("one\n")
      await run.untilLine(/^got one$/)
      return run
    },
    async (run, { service, client }) => {
      for (const [line, cols] of [["two", 100] as const, ["three", 120] as const]) {
        if (line === "three") await upgraded(service) // and once more
        await run.execution.resize(cols, 40)
        await run.untilLine(new RegExp(`^40 ${cols}$`))
        await run.execution.write(`${line}\n`)
        await run.untilLine(new RegExp(`^got ${line}$`))
      }
      await run.execution.write("\x03")

      expect(await run.ended()).toMatchObject({ outcome: "exited", exit_code: 6 })
      await run.untilLine(/^(?:\^C)?interrupted$/)
      expect(run.text.match(/^got /gm)).toHaveLength(3)
      expect(await client.call("transcript.verify", { execution_id: run.id })).toMatchObject({
        verified: true,
        chain: "intact",
      })
      await expectNothingLeftOf(service, run.id)
    },
  )

  through(
    "what is paused stays so, with its clocks, until it is resumed",
    async ({ client }) => {
      const script = "echo ready; while :; do :; done"
      const run = await Steered.start(client, { ...shell(script), timeout: 20 })
      await run.untilLine(/^ready$/)
      await run.execution.pause()
      const { leader } = run
      const { execution_time: ran } = await run.status()
      return { run, leader, before: { ticks: ticksOf([leader]), ran } }
    },
    async ({ run, leader, before }, { service }) => {
      expect(await run.status()).toMatchObject({ state: "paused", execution_time: before.ran })
      expect(ticksOf([leader])).toEqual(before.ticks)
      await run.execution.resume()
      await until("it runs again", () => (ticksOf([leader])[0] ?? 0) > (before.ticks[0] ?? 0) + 5)
      await run.execution.cancel()
      expect(await run.ended()).toMatchObject({ outcome: "stopped", cause: "client" })
      await expectNothingLeftOf(service, run.id, [leader])
    },
  )

  through(
    "input goes on at its place, and a repeated piece is not written twice",
    async ({ client }) => {
      const run = await Steered.start(client, { argv: ["cat"], stdin: "pipe" })
      const send = (data: string, offset: number, end = false) =>
        client.call("input", { execution_id: run.id, data, offset, end })
      await send("one\n", 0)
      await run.untilLine(/^one$/)
      return { run, send }
    },
    async ({ run, send }) => {
      await send("one\ntwo\n", 0)
      await send("three\n", 8, true)

      expect(await run.ended()).toMatchObject({ exit_code: 0 })
      expect(run.text).toBe("one\ntwo\nthree\n")
      expect((await run.receipt()).stdin_bytes).toBe(14)
    },
  )

  through(
    "whoever escaped the leader's session is still ended with it",
    async ({ client }) => {
      const run = await Steered.start(client, shell(daemonAndWait()))
      return { run, daemon: await run.untilProcess("daemon"), leader: run.leader }
    },
    async ({ run, daemon, leader }, { service }) => {
      expect(isStillThere(daemon)).toBe(true)
      const canceled = await run.execution.cancel()

      expect(canceled.survivors).toEqual([])
      expect(await run.ended()).toMatchObject({ outcome: "stopped", cause: "client" })
      await expectNothingLeftOf(service, run.id, [leader, daemon])
    },
  )

  through(
    "output past the budget is counted, and a hash that is lost is not made up",
    async ({ client }) => {
      const budget = { bytes: 1_000_000, policy: "drop-oldest" } as const
      const script = "seq 1 1000000; read go; seq 1000001 1000010"
      const run = await Steered.start(client, { ...shell(script), stdin: "pipe", budget })
      await until("it has written", async () => (await run.status()).lines.stdout === 1_000_000)
      return run
    },
    async (run, { client }) => {
      await run.execution.write("\n")
      const completed = await run.ended()

      const { stdout } = await runIndependently(["seq", "1", "1000010"])
      expect(completed).toMatchObject({ exit_code: 0, lines: { stdout: 1_000_010 } })
      expect(completed.bytes.stdout).toBe(stdout.bytes)
      expect(completed.dropped.bytes).toBeGreaterThan(0)
      expect(completed.hashes).toMatchObject({ stdout: null, stderr: null })
      const verified = await client.call("transcript.verify", { execution_id: run.id })
      expect(verified).toMatchObject({
        verified: true,
        chain: `intact from ${completed.dropped.bytes}`,
      })
    },
  )

  // The last to be staged: it must not be due before the upgrade.
  through(
    "a timeout comes when it is due",
    async ({ client }) => {
      const run = await Steered.start(client, { ...shell("exec sleep 1000"), timeout: 3 })
      return { run, leader: run.leader }
    },
    async ({ run, leader }, { service }) => {
      const ended = await run.ended()

      expect(ended).toMatchObject({ outcome: "stopped", cause: "wall-timeout", exit_code: null })
      expect(ended.execution_time).toBeGreaterThan(2.9)
      expect(ended.execution_time).toBeLessThan(10)
      await expectNothingLeftOf(service, run.id, [leader])
    },
  )
})

describeAContainment("through an upgrade with patterns to redact", (containment) => {
  const folder = temporaryFolder()
  const file = join(folder.path, "redact")
  writeFileSync(file, "planted = PLANTED-[0-9a-f]{24}\n")
  const through = sharedUpgrade({ containment, "max-executions": "80", "redact-file": file })
  afterAll(() => folder[Symbol.dispose]())

  const env = { FIRST: "PLANTED-0a1b2c3d", SECOND: "4e5f60718293a4b5" }
  through(
    "a secret in two halves is taken out, one half before it and one after",
    async ({ client }) => {
      const script = 'printf "before $FIRST"; read -r go; printf "$SECOND after\\n"'
      const run = await Steered.start(client, { ...shell(script), env, stdin: "pipe" })
      await run.untilCount("before ", 1)
      return run
    },
    async (run, { service }) => {
      await run.execution.write("go\n")

      expect(await run.ended()).toMatchObject({ exit_code: 0, redacted: { stdout: 1 } })
      expect(run.text).toBe("before [redacted:planted] after\n")
      expect(filesWith(service.stateDir, env.FIRST)).toEqual([])
    },
  )

  const count = byScale({ short: 30, full: 60, long: 60 })
  through(
    "every exit code is the true one, whenever it came",
    async ({ client }) => {
      // They end while the programs change, and shortly before and after.
      const delay = (index: number) => ((index * 1.2) / count).toFixed(2)
      return Promise.all(
        Array.from({ length: count }, (_, index) =>
          Steered.start(client, shell(`echo a; sleep ${delay(index)}; exit ${index}`)),
        ),
      )
    },
    async (runs) => {
      const ends = await Promise.all(runs.map((run) => run.ended()))

      expect(ends.map(({ exit_code }) => exit_code)).toEqual(runs.map((_, index) => index))
      expect(runs.map(({ text }) => text)).toEqual(runs.map(() => "a\n"))
    },
  )
})

describeAContainment("through an upgrade", (containment) => {
  test("what waits for a place keeps it, with its secrets nowhere on disk", async () => {
    await using service = await Service.start({ flags: { containment, "max-executions": "1" } })
    await using client = await clientOf(service)
    const first = await Steered.start(client, { ...shell("read go; exit 1"), stdin: "pipe" })
    const env = { PLANTED: "PLANTED-0123456789" }
    const second = await Steered.start(client, { ...shell('echo "$PLANTED"; exit 2'), env })
    expect((await second.status()).state).toBe("queued")

    const report = await upgraded(service)

    expect(report).toMatchObject({ executions: 1, queued: 1 })
    expect((await second.status()).state).toBe("queued")
    expect(filesWith(service.stateDir, env.PLANTED)).toEqual([])
    await first.execution.write("\n")
    expect(await first.ended()).toMatchObject({ exit_code: 1 })
    expect(await second.ended()).toMatchObject({ exit_code: 2 })
    expect(second.text).toBe(`${env.PLANTED}\n`)
  })

  test("what is being stopped is stopped, though it does not want to", async () => {
    await using service = await Service.start({ flags: { containment, grace: "30s" } })
    await using client = await clientOf(service)
    const run = await Steered.start(client, fixture("ignore-sigterm.sh"))
    await until("it is ready", () => run.text !== "")
    const leader = identify(run.leader.pid)
    run.execution.cancel().catch(() => undefined) // the one who asks is cut off by the upgrade
    await until("it is being stopped", async () => (await run.status()).state === "stopping")

    const report = await upgraded(service)

    expect(report.executions).toBe(1)
    expect((await run.status()).state).toBe("stopping")
    Bun.spawnSync([executable, "stop", "--now", "--state-dir", service.stateDir])
    expect(await service.exited).toBe(0)
    expect(isStillThere(leader)).toBe(false)
  })
})

/** A daemon by the book, and a leader that stays. */
function daemonAndWait(): string {
  const [, path = ""] = fixture("daemonize.sh").argv
  return `sh ${path}; exec sleep 1000`
}
