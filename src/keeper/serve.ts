import { createHash, randomBytes } from "node:crypto"
import type { Config } from "../config.ts"
import { executionIdFrom } from "../execution/id.ts"
import type { ExecutionRecord } from "../execution/record.ts"
import { openJournal } from "../journal/journal.ts"
import { JournalFullError } from "../journal/journal-failure.ts"
import { createReceiptSigner } from "../journal/receipt-signing.ts"
import { loadOrCreateSigningKey } from "../journal/signing-key.ts"
import type { Logger } from "../log.ts"
import { CollectionPace } from "../process/collection-pace.ts"
import { type Containment, chooseContainment } from "../process/containment.ts"
import { Forest } from "../process/forest.ts"
import { tryLock } from "../process/libc.ts"
import { readStat } from "../process/proc.ts"
import { programs } from "../process/programs.ts"
import { Reaper } from "../process/reaper.ts"
import { signalNumber } from "../process/signals.ts"
import { spawnGateway } from "../process/spawn-gateway.ts"
import { spawnChild } from "../process/spawner.ts"
import { endLeftovers } from "../process/sweep.ts"
import { writeTreeMemory } from "../process/tree-memory.ts"
import { createTranscriptStore } from "../transcript/store.ts"
import { type EnduringJournal, enduringJournal } from "./enduring-journal.ts"
import { GatewayProcess } from "./gateway-process.ts"
import { createHousekeeping } from "./housekeeping.ts"
import { Keeper } from "./keeper.ts"
import { News } from "./news.ts"
import { unenforceable } from "./plan.ts"
import type { Log, Spawner } from "./ports.ts"
import { recover } from "./recovery.ts"
import {
  fingerprint,
  gatewaySettings,
  keeperSettings,
  limitsOf,
  retentionSettings,
} from "./serve-settings.ts"
import { openStateDirectory, type StateDirectory } from "./state-directory.ts"
import { systemClock } from "./system-clock.ts"
import { untilToldToEnd } from "./told-to-end.ts"

export type ServeOptions = {
  version: string
  /** How to start this very program again. */
  self: readonly string[]
  /** The environment children start from. */
  env: Record<string, string | undefined>
  cwd: string
  logger: Logger
  /** Says something to whoever started the service, on standard error. */
  say: (text: string) => void
}

const housekeepingMs = 30_000
const collectEveryBytes = 48 * 1024 * 1024
/** What an execution leaves behind, however little it wrote; to find trees, /proc is read often. */
const executionBytes = { cgroup: 512 * 1024, "best-effort": 1024 * 1024 }
const surveyMs = 1000
const idleCheckMs = 1000
const fullDiskCheckMs = 100

/** Runs the service until it is told to end; answers the exit code. */
export async function serve(config: Config, options: ServeOptions): Promise<number> {
  const { logger: log, say } = options
  const clock = systemClock
  await using stack = new AsyncDisposableStack()

  const owner = {
    pid: process.pid,
    startTicks: readStat(process.pid)?.startTicks ?? 0,
    version: options.version,
    startedAt: clock.now().toISOString(),
  }
  const opened = openStateDirectory(config.stateDir, owner, config.ballastBytes, tryLock)
  if (!opened.ok) return refuse(say, opened.failure)
  const state = stack.use(opened.value)

  const journalOpened = openJournal(state.journalPath, clock)
  if (!journalOpened.ok) return refuse(say, journalOpened.failure.message)
  const journal = stack.use(journalOpened.value)
  const key = loadOrCreateSigningKey(state.path)
  if (!key.ok) return refuse(say, key.failure.message)
  const signer = createReceiptSigner(key.value, process.getuid?.() ?? 0)
  const transcripts = createTranscriptStore(state.transcriptsPath)

  const reaper = stack.use(new Reaper())
  const forest = new Forest(reaper.isOwnChild)
  const instance = createHash("sha256").update(state.path).digest("hex").slice(0, 12)
  const chosen = chooseContainment(config.containment, instance, forest)
  if (!chosen.ok) return refuse(say, `${chosen.failure}.`)
  const containment = stack.use(chosen.value)
  const unheld = unenforceable(limitsOf(config), containment.enforceable)
  if (unheld !== null) {
    const how = `this machine has no cgroup controller for it (see \`cc-executor doctor\`)`
    return refuse(say, `The limit --limit-${unheld} cannot be enforced: ${how}.`)
  }

  const lost = await recover({
    journal,
    transcripts,
    signer,
    clock,
    sweep: (records) => endLeftovers(state.path, containment.cgroupBase, records),
  }).catch(unlessFull)
  if (lost === null) return refuse(say, `The disk of ${state.path} is full: free some space first.`)
  for (const record of lost) {
    log.warn({ executionId: record.id, state: record.state }, "execution lost")
  }

  const isFull = isJournalFull
  const house = { journal, transcripts, clock, log, isFull }
  const keepHouse = createHousekeeping(retentionSettings(config), state, house)
  const enduring = enduringJournal(journal, signer, {
    clock,
    log,
    isFull,
    makeRoom: keepHouse,
    openReserve: () => state.dropBallast(),
    closeReserve: () => state.retakeBallast(),
  })
  const news: News = new News((id) => keeper.find(id)?.transcriptFacts ?? null, clock)
  const spawner: Spawner = {
    containment: containment.mode,
    enforceable: containment.enforceable,
    spawn: (launch) => spawnChild(launch, containment, reaper),
  }
  const keeper: Keeper = new Keeper(keeperSettings(config, options, containment), {
    ...supervisionEvents(log, news, enduring, executionBytes[containment.mode]),
    withReserve: enduring.withReserve,
    ifRoom: enduring.ifRoom,
    clock,
    spawner,
    transcripts,
    store: journal,
    programs,
    newId: () => executionIdFrom(randomBytes(16)),
    fingerprint,
    signalNumber,
  })

  let gatewayPid: number | null = null
  const remember = () => rememberTrees(state, containment, forest, gatewayPid)
  const gateway = new GatewayProcess({
    start: spawnGateway(options, reaper, () => log.relay("gateway")),
    settings: gatewaySettings(config, options, state, instance, containment),
    keeper,
    news,
    clock,
    log,
    onStarted(pid) {
      gatewayPid = pid
      remember()
    },
  })
  stack.defer(() => gateway.close())
  const listening = await gateway.open()
  if (!listening.ok) return refuse(say, listening.failure.message)

  stack.use(every(housekeepingMs, log, keepHouse))
  let isAnyRemembered = false
  const survey = () => {
    // Once more after the last tree is gone: nothing of it is to be remembered.
    if (!forest.isEmpty || isAnyRemembered) remember()
    isAnyRemembered = !forest.isEmpty
  }
  stack.use(every(surveyMs, log, survey))
  keepHouse()
  log.info(
    {
      stateDir: state.path,
      containment: containment.mode,
      port: listening.value,
      lost: lost.length,
    },
    "service ready",
  )
  say(readyLine(listening.value, config, state))

  const why = await untilToldToEnd({
    isIdle: () => isIdle(keeper, gateway),
    exitWhenIdleMs: config.exitWhenIdleMs,
    checkMs: idleCheckMs,
  })
  log.info({ why: why.reason, executions: keeper.size }, "service shuts down")
  gateway.drain()
  why.onSecondSignal(() => keeper.hurry())
  using _grace = clock.after(shutdownGraceMs(config), () => keeper.hurry())
  const isRecorded = await Promise.race([
    keeper.shutDown().then(() => true),
    untilOnlyTheDiskIsMissing(config, keeper, enduring).then(() => false),
  ])
  await gateway.close()
  if (!isRecorded) log.error({ executions: keeper.size }, "disk full: ends are not journaled")
  log.info({}, "service ended")
  return isRecorded ? 0 : 1
}

/** On a full disk an end waits for room; a service that must end does not wait with it. */
async function untilOnlyTheDiskIsMissing(
  config: Config,
  keeper: Keeper,
  enduring: EnduringJournal,
): Promise<void> {
  await Bun.sleep(config.shutdownGraceMs)
  while (keeper.size > enduring.waitingEnds()) await Bun.sleep(fullDiskCheckMs)
}

function refuse(say: (text: string) => void, why: string): number {
  say(`cc-executor: ${why}`)
  return 1
}

function readyLine(port: number | null, config: Config, state: StateDirectory): string {
  const [host = "127.0.0.1"] = config.hosts
  const where =
    port === null ? `unix:${state.socketPath}` : `ws://${hostInUrl(host)}:${port}/ws/mcp`
  return `cc-executor: listening on ${where} (state in ${state.path})`
}

function hostInUrl(host: string): string {
  return host.includes(":") ? `[${host}]` : host
}

/** SIGKILL must come early enough for its own limit to fit into what containers allow. */
function shutdownGraceMs(config: Config): number {
  return Math.max(0, config.shutdownGraceMs - 1000)
}

function isIdle(keeper: Keeper, gateway: GatewayProcess): boolean {
  return keeper.size === 0 && gateway.connections === 0
}

/** What fails once, for want of descriptors or space say, may work the next time. */
function every(periodMs: number, log: Log, run: () => unknown): Disposable {
  const attempt = () => {
    try {
      run()
    } catch (error) {
      log.error({ err: error }, "housekeeping failed")
    }
  }
  const timer = setInterval(attempt, periodMs)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

function unlessFull(error: unknown): null {
  if (isJournalFull(error)) return null
  throw error
}

function isJournalFull(error: unknown): boolean {
  return error instanceof JournalFullError
}

function rememberTrees(
  state: StateDirectory,
  containment: Containment,
  forest: Forest,
  gatewayPid: number | null,
): void {
  const startTicks = gatewayPid === null ? undefined : readStat(gatewayPid)?.startTicks
  writeTreeMemory(state.path, {
    cgroupBase: containment.cgroupBase,
    gateway:
      gatewayPid === null || startTicks === undefined ? null : { pid: gatewayPid, startTicks },
    seen: forest.isEmpty ? {} : forest.remembered(),
  })
}

function supervisionEvents(
  log: Log,
  news: News,
  enduring: EnduringJournal,
  bytesPerExecution: number,
) {
  const pace = new CollectionPace(collectEveryBytes)
  return {
    journal: enduring.write,
    journalEnd: enduring.end,
    advanced(id: ExecutionRecord["id"], bytes: number) {
      news.advanced(id)
      pace.passed(bytes)
    },
    changed(record: ExecutionRecord) {
      news.changed(record)
      const facts = { executionId: record.id, pid: record.leader?.pid, state: record.state.kind }
      if (record.state.kind === "ended") {
        pace.passed(bytesPerExecution)
        const { outcome } = record.state
        const { runningMs: durationMs, survivors } = record
        log.info({ ...facts, outcome, durationMs, survivors }, "execution ended")
      } else if (record.state.kind === "draining") log.debug(facts, "execution changed")
      else log.info(facts, "execution changed")
    },
    broke: (record: ExecutionRecord, error: unknown) =>
      log.error({ executionId: record.id, err: error }, "supervision broke"),
  }
}
