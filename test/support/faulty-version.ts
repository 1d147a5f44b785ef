import { rmSync, writeFileSync } from "node:fs"
import { allPids, commandLine } from "../../src/service/os/proc.ts"
import { type Built, buildChangedVersion, type SourceChange } from "./next-version.ts"

/** Moments of a program that takes over, from its first to the last from which it can go back. */
export const faultPoints = [
  "begin",
  "received",
  "read",
  "opened",
  "adopted",
  "gateway",
  "accept",
  "commit",
] as const
export type FaultPoint = (typeof faultPoints)[number]

/** What it then does, in a program where nothing else does it. */
const faults = {
  exit: "process.exit(9)",
  crash: "readMemory.u8(8)",
  abort: "process.abort()",
  busy: "for (;;);",
  sleep: "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)",
  stop: 'process.kill(process.pid, "SIGSTOP"); for (;;);',
  // Another thread than the first one ends it.
  thread: `new Worker(URL.createObjectURL(new Blob(["process.abort()"])));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)`,
  children: `Bun.spawnSync(["sh", "-c", 'setsid sh -c "$1" "$0" & sh -c "$1" "$0" &',
      process.execPath, "while sleep 1; do :; done"], { stdio: ["ignore", "ignore", "ignore"] });
    process.exit(9)`,
  throw: 'throw new Error("broken on purpose")',
  // Its event loop goes on, with everything that was begun until then.
  idle: "return new Promise(() => undefined)",
}
export type FaultKind = keyof typeof faults
const faultKinds = Object.keys(faults).filter((kind): kind is FaultKind => kind in faults)

const hasEventLoop: ReadonlySet<FaultPoint> = new Set(["adopted", "gateway"])

/** Every fault at every point where there can be one of its kind. */
export const everyFault = faultPoints.map((point) =>
  faultKinds
    .filter((kind) => kind !== "idle" || hasEventLoop.has(point))
    // Nobody watches it there: it must go back by itself.
    .filter((kind) => point !== "commit" || kind === "throw")
    .map((kind) => ({ point, kind })),
)

export type FaultyVersion = Built & {
  failAt(point: FaultPoint, kind: FaultKind): void
  /** A file that is there when it has come to where it fails. */
  failed: string
  /** Of the processes that it starts as a fault, those that are there. */
  started(): number[]
}

/**
 * A later release that the older one's journal must be migrated for, and that fails, once it has
 * been executed in the service's place, where and how a test says.
 */
export async function buildFaultyVersion(): Promise<FaultyVersion> {
  const built = await buildChangedVersion([...laterJournal, ...faultHooks])
  return {
    ...built,
    failAt(point, kind) {
      rmSync(`${built.path}.failed`, { force: true })
      writeFileSync(`${built.path}.fault`, `${point} ${kind}`)
    },
    failed: `${built.path}.failed`,
    started: () => allPids().filter((pid) => commandLine(pid).endsWith(`done ${built.path}`)),
  }
}

/** An older program could not read a journal with it. */
export const laterJournal: readonly SourceChange[] = [
  {
    file: "src/service/storage/journal/migrations.ts",
    from: "[initial, principals, trials, notifications]",
    to:
      "[initial, principals, trials, notifications, " +
      '"CREATE TABLE of_a_later_release (id INTEGER)"]',
  },
]

const hook = `
import { read as readMemory } from "bun:ffi"
import { readFileSync as readFault, writeFileSync as writeFailed } from "node:fs"
const isTakingOver = process.env["CC_EXECUTOR_TAKE_OVER"] !== undefined
globalThis.faultAt = (point) => {
  if (!isTakingOver) return
  const [at, kind] = readFault(process.execPath + ".fault", "utf8").split(" ")
  if (at !== point) return
  writeFailed(process.execPath + ".failed", "")
  switch (kind) {
${Object.entries(faults)
  .map(([kind, code]) => `    case "${kind}": { ${code}; return }`)
  .join("\n")}
  }
}
faultAt("begin")
`

const serveFile = "src/service/keeper/serve/serve.ts"
const handoverFile = "src/service/keeper/serve/receive-handover.ts"
const faultHooks: readonly SourceChange[] = [
  { file: "src/main.ts", from: "startAgainIfMoved()\n", to: `${hook}\nstartAgainIfMoved()\n` },
  before(handoverFile, "  return new ReceivedHandover(inheritance)", "received"),
  before(handoverFile, "    const read = Handover.safeParse", "read"),
  before("src/service/keeper/serve/open.ts", "  const problem = await prepareAccess(", "opened"),
  before(serveFile, "    listening = await gateway.open()", "adopted"),
  before(serveFile, "      continued = continueExecutions(", "gateway"),
  before(handoverFile, "    closeSync(documentFd) //", "accept"),
  before(handoverFile, "    commit()\n", "commit"),
]

function before(file: string, from: string, point: FaultPoint): SourceChange {
  const wait = hasEventLoop.has(point) ? "await " : ""
  return { file, from, to: `  ${wait}faultAt("${point}")\n${from}` }
}
