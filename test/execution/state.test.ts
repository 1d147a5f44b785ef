import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import {
  type ExecutionEvent,
  type ExecutionState,
  exitOf,
  type Outcome,
  StopCause,
  transition,
} from "../../src/execution/state.ts"

const pid = 42
const exit = { kind: "exited", exitCode: 3 } as const
const killed = { kind: "signaled", signal: "SIGKILL" } as const

const states = {
  queued: { kind: "queued" },
  starting: { kind: "starting" },
  running: { kind: "running", pid },
  paused: { kind: "paused", pid },
  stopping: { kind: "stopping", pid, cause: "client" },
  draining: { kind: "draining", pid, exit, cause: null },
  drainingStopped: { kind: "draining", pid, exit, cause: "wall-timeout" },
  ended: { kind: "ended", outcome: exit },
} as const satisfies Record<string, ExecutionState>

const events = {
  admitted: { kind: "admitted" },
  started: { kind: "started", pid },
  startFailed: { kind: "start-failed", errno: "ENOENT", message: "no" },
  paused: { kind: "paused" },
  resumed: { kind: "resumed" },
  stopRequested: { kind: "stop-requested", cause: "shutdown" },
  leaderExited: { kind: "leader-exited", exit: killed },
  emptied: { kind: "emptied" },
  lost: { kind: "lost", reason: "gone" },
} as const satisfies Record<string, ExecutionEvent>

const ended = (outcome: Outcome): ExecutionState => ({ kind: "ended", outcome })
const stopped = { kind: "stopped", cause: "shutdown", exit: null } as const
const stoppedBy = { kind: "stopped", cause: "wall-timeout", exit } as const
const stopping: ExecutionState = { kind: "stopping", pid, cause: "shutdown" }
const draining: ExecutionState = { kind: "draining", pid, exit: killed, cause: null }
const lost = ended({ kind: "lost", reason: "gone" })
const failed = ended({ kind: "failed-to-start", errno: "ENOENT", message: "no" })

/** Every pair that changes the state. What is not here changes nothing. */
const table: Record<keyof typeof states, Partial<Record<keyof typeof events, ExecutionState>>> = {
  queued: { admitted: states.starting, stopRequested: ended(stopped), lost },
  starting: {
    started: states.running,
    startFailed: failed,
    stopRequested: ended(stopped),
    lost,
  },
  running: { paused: states.paused, stopRequested: stopping, leaderExited: draining, lost },
  paused: { resumed: states.running, stopRequested: stopping, leaderExited: draining, lost },
  stopping: { leaderExited: { ...draining, cause: "client" }, lost },
  draining: { emptied: ended(exit), lost },
  drainingStopped: { emptied: ended(stoppedBy), lost },
  ended: {},
}

describe("transition", () => {
  for (const [from, state] of Object.entries(states)) {
    for (const [name, event] of Object.entries(events)) {
      const row: Record<string, ExecutionState> = table[keyOf(from)]
      const next = row[name]
      const what = next === undefined ? "stays as it is" : `becomes ${next.kind}`
      test(`${from} ${what} at ${name}`, () => {
        const result = transition(state, event)

        if (next === undefined) expect(result).toBe(state)
        else expect(result).toEqual(next)
      })
    }
  }

  test("tells of too much output also when the leader had exited before it was found", () => {
    const tooMuch = { kind: "stop-requested", cause: "output-limit" } as const

    const found = [tooMuch, events.emptied].reduce(transition, states.draining)

    expect(found).toEqual(ended({ kind: "stopped", cause: "output-limit", exit }))
    expect(transition(states.drainingStopped, tooMuch)).toBe(states.drainingStopped)
  })

  test("never leaves the end", () => {
    fc.assert(
      fc.property(fc.array(anyEvent()), fc.array(anyEvent()), (before, after) => {
        const end = [...before, events.lost].reduce(transition, states.queued)
        expect(end.kind).toBe("ended")
        expect(after.reduce(transition, end)).toBe(end)
      }),
    )
  })

  test("keeps the first cause, whatever follows", () => {
    fc.assert(
      fc.property(anyCause(), fc.array(anyEvent()), (cause, following) => {
        const asked = transition(states.running, { kind: "stop-requested", cause })
        const last = [...following, events.leaderExited, events.emptied].reduce(transition, asked)
        const isLost = following.some(({ kind }) => kind === "lost")
        const outcome = last.kind === "ended" ? last.outcome : null
        expect(outcome).toMatchObject(isLost ? {} : { kind: "stopped", cause })
      }),
    )
  })

  test("makes up no exit: only a leader that exited has one", () => {
    fc.assert(
      fc.property(fc.array(anyEvent()), (all) => {
        const last = all.reduce(transition, states.queued)
        const known = last.kind === "ended" ? exitOf(last.outcome) : null
        const told = all.flatMap((event) => (event.kind === "leader-exited" ? [event.exit] : []))
        if (known !== null) expect(told).toContainEqual(known)
      }),
    )
  })

  test("leads to the same state when a journal repeats every event", () => {
    fc.assert(
      fc.property(fc.array(anyEvent()), (all) => {
        const once = all.reduce(transition, states.queued)
        const twice = all.flatMap((event) => [event, event]).reduce(transition, states.queued)
        expect(twice).toEqual(once)
      }),
    )
  })
})

function keyOf(name: string): keyof typeof states {
  for (const key of Object.keys(states)) if (key === name && isState(key)) return key
  throw new Error(`there is no state ${name}`)
}

function isState(key: string): key is keyof typeof states {
  return key in states
}

function anyCause() {
  return fc.constantFrom(...StopCause.options)
}

function anyEvent(): fc.Arbitrary<ExecutionEvent> {
  const anyExit = fc.oneof(
    fc.record({ kind: fc.constant("exited" as const), exitCode: fc.integer({ min: 0, max: 255 }) }),
    fc.record({ kind: fc.constant("signaled" as const), signal: fc.constant("SIGTERM") }),
  )
  return fc.oneof(
    fc.constantFrom<ExecutionEvent>(...Object.values(events)),
    fc.record({ kind: fc.constant("stop-requested" as const), cause: anyCause() }),
    fc.record({ kind: fc.constant("leader-exited" as const), exit: anyExit }),
  )
}
