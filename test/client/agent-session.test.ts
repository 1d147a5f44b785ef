import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { AgentSession } from "../../src/client/agent-session.ts"
import type { ExecutionEvent } from "../../src/client/output/execution-event.ts"
import type { RemoteExecution } from "../../src/client/remote-execution.ts"
import type { SessionNotice } from "../../src/client/session-log.ts"

const at = "2026-01-01T00:00:00.000Z"
const problem = (n: number, text: string) => ({ v: 1, n, at, event: "problem", problem: text })
const gap = { from: "a", next: "b", bytes: 10, lines: 1, reason: "budget" }

function output(text: string, stream: "stdout" | "stderr" = "stdout"): ExecutionEvent {
  return { kind: "output", stream, text, bytes: new TextEncoder().encode(text), next: "" }
}

async function noticesOf(events: readonly ExecutionEvent[]): Promise<SessionNotice[]> {
  const execution: RemoteExecution = {
    id: "a",
    pid: 1,
    async *output() {
      yield* events
    },
    ended: new Promise(() => undefined),
    cursor: unused,
    pause: unused,
    resume: unused,
    cancel: unused,
    signal: unused,
    write: unused,
    end: unused,
    resize: unused,
    tellSizes: unused,
    showScreen: unused,
    detach: unused,
    [Symbol.asyncDispose]: unused,
  }
  return Array.fromAsync(new AgentSession(execution, unused).events())
}

function unused(): never {
  throw new Error("nothing is asked here")
}

describe("the events of a session", () => {
  test("are whole wherever the output is cut", async () => {
    const texts = fc.array(fc.string(), { minLength: 1, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(texts, fc.array(fc.nat()), async (problems, cuts) => {
        const all = problems.map((text, index) => problem(index + 1, text))
        const whole = all.map((event) => `${JSON.stringify(event)}\n`).join("")
        const places = [0, ...cuts.map((cut) => cut % whole.length), whole.length]
        const sorted = places.toSorted((one, other) => one - other)
        const pieces = sorted.slice(1).map((end, index) => whole.slice(sorted[index], end))

        const notices = await noticesOf(pieces.map((piece) => output(piece)))

        expect(notices).toMatchObject(all.map((event) => ({ event })))
      }),
      { numRuns: 50 },
    )
  })

  test("go on after a gap with the next whole line", async () => {
    const line = (n: number) => `${JSON.stringify(problem(n, "x"))}\n`
    const notices = await noticesOf([
      output(line(1) + line(2).slice(0, 20)),
      { kind: "gap", ...gap },
      output(`the rest of a lost line\n${line(4)}`),
    ])

    expect(notices).toMatchObject([{ event: { n: 1 } }, { kind: "gap" }, { event: { n: 4 } }])
  })

  test("of a kind that is not known yet are passed on as they are", async () => {
    const line = JSON.stringify({ v: 1, n: 1, at, event: "dream", of: "sheep" })

    expect(await noticesOf([output(`${line}\n`), output("oh\n", "stderr")])).toEqual([
      { kind: "unknown", line },
      { kind: "stderr", text: "oh\n" },
    ])
  })
})
