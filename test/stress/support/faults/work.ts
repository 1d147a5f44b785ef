import type { Ending } from "../../../../src/protocol/execution-view.ts"
import type { Reason } from "../../../../src/protocol/failure.ts"
import type { ParamsOf } from "../../../../src/protocol/methods.ts"

/** A command whose whole life is known beforehand. */
export type Work = {
  name: string
  request: ParamsOf<"execute">
  /** All that it writes when nothing cuts it short; null where that cannot be known. */
  writes: { stdout: Buffer | null; stderr: Buffer | null }
  /** How it ends when nothing cuts it short; a refusal where it never begins. */
  ending: Partial<Ending> | Reason
  /** What its owner does, one after the other, once it has said something. */
  steps: Step[]
}

export type Step = "pause" | "resume" | "cancel" | "kill-leader" | { input: string }

/** In best-effort containment, nothing about it tells whose it is. */
export const unmarkedDaemon = "leave a daemon without an environment"

type Random = (below: number) => number

const nothing = Buffer.alloc(0)
const signals = "HUP INT QUIT ILL ABRT BUS FPE KILL SEGV PIPE ALRM TERM USR1 USR2".split(" ")
const exitCodes = [0, 1, 2, 126, 127, 128, 129, 137, 254, 255]

/**
 * Every kind of work there is: the chance decides about its size and its end. `nap` is a command
 * that takes longer than any test, and by which whoever runs it can be found.
 */
export const kindsOfWork: Record<string, (random: Random, nap: string) => Omit<Work, "name">> = {
  count: (random) => {
    const lines = 1000 + random(200_000)
    return { request: seq(lines), writes: onlyStdout(counted(lines)), ...exits(0) }
  },
  "count, with a budget that forgets": (random) => {
    const lines = 100_000 + random(200_000)
    const budget = { bytes: 50_000 + random(300_000) }
    const request = { ...seq(lines), budget }
    return { request, writes: onlyStdout(counted(lines)), ...exits(0) }
  },
  "count, with a budget that blocks": (random) => {
    const lines = 50_000 + random(200_000)
    const budget = { bytes: 100_000 + random(300_000), policy: "block" } as const
    const request = { ...seq(lines), budget }
    return { request, writes: onlyStdout(counted(lines)), ...exits(0) }
  },
  "count on a terminal": (random) => {
    const lines = 100 + random(5000)
    const request = { ...seq(lines), terminal: { cols: 80, rows: 24 } }
    const text = counted(lines).toString().replaceAll("\n", "\r\n")
    return { request, writes: onlyStdout(Buffer.from(text)), ...exits(0) }
  },
  "talk on both streams": (random) => {
    const turns = 10 + random(200)
    const code = oneOf(exitCodes, random)
    const script = `${times(turns, "echo out $i; echo err $i >&2")}; exit ${code}`
    const writes = { stdout: numbered("out", turns), stderr: numbered("err", turns) }
    return { request: shell(script), writes, ...exits(code) }
  },
  tick: (random) => ticking(random, []),
  "tick, held when its clients go": (random) => {
    const work = ticking(random, [])
    return { ...work, request: { ...work.request, on_disconnect: "cancel" } }
  },
  "tick, paused and resumed": (random) => ticking(random, ["pause", "resume"]),
  "tick, paused and canceled": (random) => ({
    ...ticking(random, [], 1_000_000),
    ...canceled,
    steps: ["pause", "cancel"],
  }),
  converse: (random) => {
    const pieces = Array.from({ length: 3 + random(20) }, (_, index) =>
      `${index} `.padEnd(1 + random(3000), "x").concat("\n"),
    )
    const writes = onlyStdout(Buffer.from(pieces.join("")))
    const steps = pieces.map((input) => ({ input }))
    return { request: { argv: ["cat"], stdin: "pipe" }, writes, ...exits(0), steps }
  },
  "exit with a code": (random) => {
    const code = oneOf(exitCodes, random)
    return { request: shell(`echo bye; exit ${code}`), writes: says("bye"), ...exits(code) }
  },
  "die by a signal": (random, nap) => {
    const signal = oneOf(signals, random)
    const request = shell(`ulimit -c 0; echo before; kill -${signal} $$; ${nap}`)
    return { request, writes: says("before"), ...dies(`SIG${signal}`) }
  },
  "be killed from outside": (_, nap) => ({
    request: shell(`echo ready; exec ${nap}`),
    writes: says("ready"),
    ...dies("SIGKILL"),
    steps: ["kill-leader"],
  }),
  "sleep until canceled": (_, nap) => ({
    request: shell(`echo ready; ${nap} & ${nap}`),
    writes: says("ready"),
    ...canceled,
  }),
  "ignore SIGTERM": (_, nap) => ({
    request: shell(`trap '' TERM; ${nap} & echo ready; wait; ${nap}`),
    writes: says("ready"),
    ...canceled,
  }),
  "stop itself": (_, nap) => ({
    request: shell(`echo ready; kill -STOP $$; echo awake; ${nap}`),
    // Awakened to be ended, it may say so or not.
    writes: says("ready\nawake"),
    ...canceled,
  }),
  "outlast its time": (_, nap) => ({
    request: { ...shell(`echo ready; ${nap}`), timeout: 0.8 },
    writes: says("ready"),
    ...stopped("wall-timeout"),
  }),
  "be silent for too long": (_, nap) => ({
    request: { ...shell(`echo ready; ${nap}`), idle_timeout: 0.8 },
    writes: says("ready"),
    ...stopped("idle-timeout"),
  }),
  "close its outputs and live on": () => ({
    request: shell("echo closing; exec >&- 2>&-; sleep 0.7; exit 7"),
    writes: says("closing"),
    ...exits(7),
  }),
  "leave a daemon": (random, nap) => leavingDaemon(random, "", nap),
  [unmarkedDaemon]: (random, nap) => leavingDaemon(random, "env -i ", nap),
  "leave one who holds its outputs": (_, nap) => ({
    request: shell(`(setsid ${nap} &); echo left; exit 3`),
    writes: says("left"),
    ...exits(3),
  }),
  "fork as fast as it can": (random, nap) => {
    const forks = 10 + random(40)
    const fork = `(setsid sh -c '${nap} & exec ${nap}' >/dev/null 2>&1 &)`
    const request = shell(`${times(forks, fork)}; echo forked; exit 4`)
    return { request, writes: says("forked"), ...exits(4) }
  },
  "exec a script whose interpreter is missing": () => {
    const make = "f=$(mktemp); echo '#!/no/such/interpreter' >$f; chmod +x $f"
    const request = shell(`${make}; (exec $f); c=$?; rm $f; exit $c`)
    return { request, writes: { stdout: nothing, stderr: null }, ...exits(127) }
  },
  "be no program at all": () => ({
    request: { argv: ["/no/such/program"] },
    writes: { stdout: nothing, stderr: nothing },
    ending: "SPAWN_FAILED",
    steps: [],
  }),
}

function leavingDaemon(random: Random, how: string, nap: string): Omit<Work, "name"> {
  const code = oneOf(exitCodes, random)
  const daemon = `exec </dev/null >/dev/null 2>&1; exec ${nap}`
  const request = shell(`(${how}setsid sh -c '${daemon}' &); echo left; exit ${code}`)
  return { request, writes: says("left"), ...exits(code) }
}

function ticking(random: Random, steps: Step[], ticks = 20 + random(80)): Omit<Work, "name"> {
  const code = oneOf(exitCodes, random)
  const request = shell(`${times(ticks, "echo tick $i; sleep 0.02")}; exit ${code}`)
  return {
    request,
    writes: onlyStdout(numbered("tick", Math.min(ticks, 10_000))),
    ...exits(code),
    steps,
  }
}

const none = { exit_code: null, signal: null, cause: null, reason: null }
const canceled = {
  ending: { outcome: "stopped", cause: "client" },
  steps: ["cancel"],
} satisfies Pick<Work, "ending" | "steps">

function exits(code: number): Pick<Work, "ending" | "steps"> {
  return { ending: { ...none, outcome: "exited", exit_code: code }, steps: [] }
}

function dies(signal: string): Pick<Work, "ending" | "steps"> {
  return { ending: { ...none, outcome: "signaled", signal }, steps: [] }
}

function stopped(cause: "wall-timeout" | "idle-timeout"): Pick<Work, "ending" | "steps"> {
  return { ending: { outcome: "stopped", cause }, steps: [] }
}

function seq(lines: number): { argv: string[] } {
  return { argv: ["seq", "1", `${lines}`] }
}

function shell(script: string): { argv: string[] } {
  return { argv: ["sh", "-c", script] }
}

function times(count: number, body: string): string {
  return `i=0; while [ $i -lt ${count} ]; do ${body}; i=$((i+1)); done`
}

function says(text: string): Work["writes"] {
  return onlyStdout(Buffer.from(`${text}\n`))
}

function onlyStdout(stdout: Buffer): Work["writes"] {
  return { stdout, stderr: nothing }
}

function counted(lines: number): Buffer {
  return Buffer.from(Array.from({ length: lines }, (_, index) => `${index + 1}\n`).join(""))
}

function numbered(word: string, count: number): Buffer {
  return Buffer.from(Array.from({ length: count }, (_, index) => `${word} ${index}\n`).join(""))
}

export function oneOf<Choice>(choices: readonly Choice[], random: Random): Choice {
  const chosen = choices[random(choices.length)]
  if (chosen === undefined) throw new Error("nothing to choose from")
  return chosen
}
