import { describe, expect, test } from "bun:test"
import { createHash } from "node:crypto"
import { describeAContainment } from "../support/each-containment.ts"
import { expectNothingLeft } from "../support/real-processes.ts"
import { refusal } from "../support/refusal.ts"
import { sharedService } from "../support/shared-service.ts"
import { clientOf, Steered, shell } from "../support/steered.ts"

const terminal = { cols: 97, rows: 31 }

describeAContainment("a command", (containment) => {
  const shared = sharedService({ flags: { containment, linger: "300ms" } })

  describe("on a terminal", () => {
    test("has one, of the size asked for, and its exit code arrives", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const script = "test -t 0 && test -t 1 && test -t 2 && stty size && echo $TERM >&2; exit 5"
      const env = { TERM: "vt220" }
      const run = await Steered.start(client, { ...shell(script), terminal, env })

      const completed = await run.ended()

      expect(run.text).toBe("31 97\r\nvt220\r\n")
      expect(completed).toMatchObject({ outcome: "exited", exit_code: 5 })
      expect(completed.bytes.stderr).toBe(0)
      expect(run.events.some((event) => event.kind === "output" && event.stream !== "stdout")).toBe(
        false,
      )
      expect((await run.receipt()).spec).toMatchObject({ stdin: "pipe", terminal })
      await expectNothingLeft(service, run.id)
    })

    test("sees a resize, which is recorded", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const script = "trap 'stty size; exit 0' WINCH; echo ready; while :; do sleep 0.01; done"
      const run = await Steered.start(client, { ...shell(script), terminal })
      await run.untilLine(/^ready$/)

      await run.execution.resize(120, 40)

      expect(await run.ended()).toMatchObject({ exit_code: 0 })
      expect(run.text).toBe("ready\r\n40 120\r\n")
      expect((await run.receipt()).spec.terminal).toEqual({ cols: 120, rows: 40 })
      const verified = await client.call("transcript.verify", { execution_id: run.id })
      expect(verified).toMatchObject({ verified: true, chain: "intact" })
      expect(await refusal(run.execution.resize(1, 1))).toMatchObject({ reason: "WRONG_STATE" })
    })

    test("echoes what is typed, and gets it as lines", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const script =
        'echo ready; read -r line; echo "got $line"; stty -echo; echo quiet; read -r more'
      const run = await Steered.start(client, {
        ...shell(`${script}; echo "got $more"`),
        terminal,
      })
      await run.untilLine(/^ready$/)

      await run.execution.write("hällo\n")
      await run.untilLine(/^quiet$/)
      await run.execution.write("secret\n")

      expect(await run.ended()).toMatchObject({ exit_code: 0 })
      expect(run.text).toBe("ready\r\nhällo\r\ngot hällo\r\nquiet\r\ngot secret\r\n")
    })

    test("is interrupted by Ctrl-C", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const run = await Steered.start(client, { ...shell("echo ready; sleep 1000"), terminal })
      await run.untilLine(/^ready$/)

      await run.execution.write("\x03")

      const completed = await run.ended()
      expect(completed).toMatchObject({ outcome: "signaled", signal: "SIGINT", cause: null })
      await expectNothingLeft(service, run.id)
    })

    for (const [what, typed] of [
      ["after whole lines", "one\ntwo\n"],
      ["in the middle of a line", "one\ntwo"],
      ["before anything", ""],
    ] as const) {
      test(`reads the end of its input ${what}`, async () => {
        const service = shared()
        await using client = await clientOf(service)
        const script = "stty -echo; echo ready; cat; echo done"
        const run = await Steered.start(client, { ...shell(script), terminal })
        await run.untilLine(/^ready$/)

        if (typed !== "") await run.execution.write(typed)
        await run.execution.end()

        expect(await run.ended()).toMatchObject({ outcome: "exited", exit_code: 0 })
        const lines = typed.replaceAll("\n", "\r\n")
        expect(run.text).toBe(`ready\r\n${lines}done\r\n`)
      })
    }

    test("loses no byte of what it writes just before its end", async () => {
      const service = shared()
      await using client = await clientOf(service)

      const runs = await Promise.all(
        Array.from({ length: 4 }, () =>
          Steered.start(client, { argv: ["seq", "1", "50000"], terminal }),
        ),
      )

      const expected = Array.from({ length: 50_000 }, (_, line) => `${line + 1}\r\n`).join("")
      for (const run of runs) {
        expect(await run.ended()).toMatchObject({ exit_code: 0 })
        expect(run.text === expected).toBe(true)
      }
    })

    test("gets a large paste whole", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const script = "stty raw -echo; echo ready; head -c 1000000 | sha256sum"
      const run = await Steered.start(client, { ...shell(script), terminal })
      await run.untilLine(/^ready$/)
      const data = new Uint8Array(1_000_000)
      for (let at = 0; at < data.length; at += 62_500) {
        crypto.getRandomValues(data.subarray(at, at + 62_500))
      }

      await run.execution.write(data)

      expect(await run.ended()).toMatchObject({ exit_code: 0 })
      expect(run.text).toContain(createHash("sha256").update(data).digest("hex"))
    })

    test("makes its writer wait when it does not read", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const script = "stty raw -echo; echo ready; exec sleep 1000"
      const run = await Steered.start(client, { ...shell(script), terminal })
      await run.untilLine(/^ready$/)
      const { id: execution_id } = run
      const waiting = refusal(client.call("input", { execution_id, data: "x".repeat(1_048_576) }))
      const other = await Steered.start(client, {
        ...shell("read -r line; echo got $line"),
        terminal,
      })
      await other.execution.write("quick\n")
      await other.ended()

      await run.execution.cancel()

      const refused = await waiting
      expect(refused).toMatchObject({ reason: "WRONG_STATE" })
      expect(Number(refused.details?.["accepted"])).toBeLessThan(200_000)
      await run.ended()
      await expectNothingLeft(service, run.id)
    })

    test("can be paused, resumed and canceled like any other", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const script = "echo ready; while read -r line; do echo got $line; done"
      const run = await Steered.start(client, { ...shell(script), terminal })
      await run.untilLine(/^ready$/)
      const { leader } = run

      await run.execution.pause()
      await run.execution.write("later\n")
      await run.execution.resume()
      await run.untilLine(/^got later$/)
      await run.execution.cancel()

      expect(await run.ended()).toMatchObject({ outcome: "stopped", cause: "client" })
      await expectNothingLeft(service, run.id, [leader])
    })

    test("ends, though something in the background still has the terminal", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const script =
        '(setsid sh -c \'trap "" HUP; echo "holder $$"; exec sleep 1000\' &) ; sleep 0.2'
      const run = await Steered.start(client, { ...shell(script), terminal })
      const holder = await run.untilProcess("holder")

      const completed = await run.ended()

      expect(completed).toMatchObject({ outcome: "exited", exit_code: 0 })
      const { killed_after_exit: killed } = await run.receipt()
      expect(killed).toMatchObject([{ pid: holder.pid }])
      await expectNothingLeft(service, run.id, [holder])
    })
  })

  describe("without a terminal", () => {
    test("cannot be resized", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const run = await Steered.start(client, shell("test -t 1; echo $?; exec sleep 1000"))
      await run.untilLine(/^1$/)

      expect(await refusal(run.execution.resize(80, 24))).toMatchObject({
        reason: "WRONG_STATE",
        details: { state: "running" },
      })
      await run.execution.cancel()
    })
  })
})
