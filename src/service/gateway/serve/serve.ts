import { createLogger } from "../../../log/log.ts"
import { standardOutput } from "../../../log/standard-output.ts"
import { LoopLag } from "../../metrics/loop-lag.ts"
import { DescriptorReserve } from "../../os/descriptor-reserve.ts"
import { ownDescriptorCount } from "../../os/descriptors.ts"
import { GarbageCollector } from "../../os/garbage-collector.ts"
import { acceptedSockets, mostDescriptors } from "../../os/network/accepted-sockets.ts"
import { openJournalReader } from "../../storage/journal/journal-reader.ts"
import { createTranscriptReader } from "../../storage/transcript/read/reader.ts"
import { afterTimer, createHttpApp } from "../../transports/http/app.ts"
import { CallLimiter, untilAnswered } from "../../transports/http/call-limiter.ts"
import { Sessions } from "../../transports/socket/sessions.ts"
import { connectionBounds } from "../listen/connection-bounds.ts"
import { listen } from "../listen/listen.ts"
import { AuditTrail } from "../operations/audit-trail.ts"
import { type OpenKeeperLink, openKeeperLink } from "../operations/keeper-link.ts"
import { LiveExecutions } from "../operations/live-executions.ts"
import { createOperations } from "../operations/operations.ts"
import { ReadScheduler } from "../operations/read-scheduler.ts"
import { KeptScreens } from "../operations/screens.ts"
import { restartSessions } from "../operations/session-restarts.ts"
import type { JournalReader } from "../ports.ts"
import { metricsText, OutputMetrics, RequestMetrics } from "../reports/gateway-metrics.ts"
import { History } from "../reports/history.ts"
import { findUnreadiness } from "../reports/readiness.ts"
import { openAccess } from "./access.ts"
import { serveClients } from "./clients.ts"
import { type Delivering, deliver, ownAddress } from "./deliver.ts"
import { endTrees } from "./end-trees.ts"
import type { JoinFleet } from "./fleet-seam.ts"
import { healthFactsOf } from "./health-facts.ts"
import { join } from "./join-fleet.ts"
import { keeperChannel, untilToldToEnd } from "./keeper-channel.ts"
import { keeperReport } from "./keeper-report.ts"
import { serveMcp } from "./mcp.ts"
import type { ExtendMcp } from "./mcp-transports.ts"
import { readWith } from "./read-with-reserve.ts"
import { spawnScreens } from "./spawn-screens.ts"
import { unseenClient } from "./unseen-client.ts"

/** Characters of text sent: each message was a string before. */
const collectEveryLength = 8 * 1024 * 1024

export type GatewayOptions = {
  commit?: string
  /** Adds to MCP what only a test needs. */
  extendMcp?: ExtendMcp
  /** Another way to be one node of several, for tests of what nodes are to each other. */
  joinFleet?: JoinFleet
}

/** Serves clients for the keeper that started this process; answers the exit code. */
export async function serveGateway(options: GatewayOptions = {}): Promise<number> {
  let isDraining = false
  let link: OpenKeeperLink | null = null
  let journal: JournalReader | null = null
  let certificateExpiresAt: Date | null = null
  const live: LiveExecutions = new LiveExecutions(
    () => open(link),
    () => open(journal),
  )
  let sessions: Sessions | null = null
  let delivering: Delivering | null = null

  const toldToEnd = untilToldToEnd()
  const keeperPid = process.ppid
  // The kernel knows of its death before the channel tells of it.
  const hasKeeper = () => process.ppid === keeperPid
  const channel = keeperChannel()
  const linked = openKeeperLink(channel, {
    updated: (updates) => {
      live.apply(updates)
      if (updates.outbox !== undefined) delivering?.wake(updates.outbox)
    },
    draining: (draining) => void (isDraining = draining),
    connections: () => (sessions?.size ?? 0) + live.readerCount,
  })
  link = await Promise.race([linked, toldToEnd.then(() => null)])
  if (link === null) return 0 // nothing is known of the service yet, so there is nothing to end
  const { settings } = link
  await using destination = standardOutput()
  const log = createLogger({
    process: "gateway",
    level: settings.logLevel,
    destination, // of the keeper, who makes these lines pretty where that is wanted
  })
  using storage = new DisposableStack()
  const openJournal = () => {
    const opened = openJournalReader(settings.journalPath)
    if (opened.ok) journal = storage.use(opened.value)
    else channel.send({ kind: "cannot-listen", code: "EJOURNAL", message: opened.failure.message })
    return opened.ok
  }
  if (link.admitsAtOnce && !openJournal()) return 1

  using reserve = new DescriptorReserve(ownDescriptorCount(), log)
  const transcripts = readWith(reserve, createTranscriptReader(settings.transcriptsPath))
  const output = new OutputMetrics()
  const requests = new RequestMetrics()
  using lag = new LoopLag()
  using screens = new KeptScreens(spawnScreens(settings), live, () => open(link), log)
  const local = createOperations({
    screens,
    link: () => open(link),
    journal: () => open(journal),
    transcripts: () => transcripts,
    live,
    policy: settings.policy,
    isOfFleet: settings.fleet !== null,
    output,
    notify: { settings: settings.notify, courier: async () => (await delivering?.courier) ?? null },
  })
  const garbage = new GarbageCollector(collectEveryLength)
  const trail = new AuditTrail(() => open(link), {
    monotonicMs: () => performance.now(),
    after: afterTimer,
  })
  const { access } = settings
  using clientAccess = openAccess(settings, log)
  const admission = Promise.withResolvers<void>()
  const untilAdmitted = () => (journal === null ? admission.promise : null)
  const rpcAnswered = requests.rpcAnswered.bind(requests)
  const joined = await join(options.joinFleet, {
    settings,
    local,
    link: () => open(link),
    journal: () => open(journal),
    log,
    refusals: trail,
    refused: (refusal) => trail.refused(unseenClient(refusal)),
    answered: rpcAnswered,
    reportGarbage: garbage.reportGarbage,
    reportBuffers: garbage.reportBuffers,
    descriptors: mostDescriptors(),
    untilAdmitted,
  })
  if (!joined.ok) {
    channel.send({ kind: "cannot-listen", code: "EFLEET", message: joined.failure })
    return 1
  }
  using fleet = joined.value
  const { operations } = fleet ?? { operations: local }
  using openSessions = new Sessions({ ...settings, ...access }, operations, {
    log,
    refusals: trail,
    reportGarbage: garbage.reportGarbage,
    answered: rpcAnswered,
    flooded: (caller) => clientAccess.bans.ban(caller),
  })
  sessions = openSessions
  const mcp = serveMcp(
    {
      operations,
      refusals: trail,
      version: settings.version,
      log,
      searches: new ReadScheduler(),
      ownProgram: settings,
      monotonicMs: () => performance.now(),
      after: afterTimer,
    },
    options.extendMcp,
  )
  if (settings.preloadMcp) await mcp.preload()
  const closing = new AbortController()
  const streams = {
    maxStreams: settings.maxSessions,
    maxStreamsPerPrincipal: settings.maxSessionsPerPrincipal,
  }
  const mcpCalls = new CallLimiter(streams)
  const keeper = link
  const report = keeperReport(keeper)
  const unreadiness = () =>
    findUnreadiness({
      isDraining: () => isDraining || !hasKeeper(),
      obstacles: report.obstacles,
      tokensAreReadable: () => clientAccess.tokensAreReadable(),
      certificateExpiresAt: () => certificateExpiresAt,
      now: () => new Date(),
      fleetTroubles: () => fleet?.troubles?.() ?? [],
    })
  const healthFacts = healthFactsOf({
    settings,
    sessions: () => openSessions.size,
    live: () => journal?.countLive() ?? {},
    certificateExpiresAt: () => certificateExpiresAt,
  })
  using history = new History({ facts: healthFacts, keeper: report.metrics })
  const app = createHttpApp({
    operations,
    metrics: () =>
      metricsText({
        settings,
        commit: options.commit ?? "unknown",
        sessions: () => openSessions.size,
        readers: () => live.readerCount,
        unreadiness,
        certificateExpiresAt: () => certificateExpiresAt,
        keeper: report.metrics,
        output,
        requests,
        lag,
      }),
    answered: (operation, status, seconds) => requests.httpAnswered(operation, status, seconds),
    version: settings.version,
    callerOf: clientAccess.callerOf,
    issueTicket: (caller) => clientAccess.tickets.issue(caller),
    pageSessions: clientAccess.pageSessions,
    tarpit: clientAccess.tarpit,
    mcp: mcp.http,
    mcpCalls,
    servesConsole: settings.servesConsole,
    closing: closing.signal,
    health: {
      facts: healthFacts,
      history: () => history.report(),
      unreadiness,
    },
    log,
    refusals: trail,
    reportGarbage: garbage.reportGarbage,
    maxMessageBytes: settings.maxMessageBytes,
    streams,
    ...clientAccess.known,
  })

  const listening = await listen(
    {
      ...settings.listen,
      socketPath: settings.socketPath,
      patienceS: Math.round(access.requestTimeoutMs / 1000),
      bounds: connectionBounds(mostDescriptors(), settings.maxMessageBytes),
    },
    serveClients({
      untilAdmitted,
      hasKeeper,
      settings,
      sessions: openSessions,
      trail,
      garbage,
      clientAccess,
      http: app.fetch,
      mcp: mcp.speak,
    }),
    {
      log,
      refused: (refusal) => trail.refused(unseenClient(refusal)),
      uidOf: clientAccess.uidOf,
      sockets: acceptedSockets,
      expires: (at) => void (certificateExpiresAt = at),
    },
  )
  if (!listening.ok) {
    channel.send({ kind: "cannot-listen", ...listening.failure })
    return 1
  }
  using listeners = listening.value
  channel.send({ kind: "listening", port: listeners.port })
  if (journal === null) {
    const first = await Promise.race([keeper.admitted.then(() => "admitted"), toldToEnd])
    if (first === "admitted" && !openJournal()) return 1
    if (first === "admitted") admission.resolve()
  }
  using delivery = new DisposableStack()
  if (settings.notify !== null && journal !== null) {
    const { port } = listeners
    const ownUrl = () => (port === null ? null : ownAddress(settings.listen, port))
    const { reportGarbage } = garbage
    const read = { journal, transcripts, link: keeper }
    const { servesConsole } = settings
    const told = { settings: settings.notify, ...read, log, ownUrl, servesConsole, reportGarbage }
    delivering = delivery.use(deliver(told))
  }
  const ended = new AbortController()
  const restarting = { link: keeper, transcripts, log, ended: ended.signal, now: () => new Date() }
  void screens.followLive()
  void restartSessions({ ...restarting, journal: () => journal }).catch((err: unknown) => {
    log.error({ err }, "sessions cannot be restarted")
  })

  const why = await toldToEnd
  ended.abort()
  if (why === "signal") {
    const parting = isDraining ? "closed" : "replaced"
    await Promise.all([trail.close(), openSessions.farewell(isDraining, parting)])
    return 0
  }
  keeper.lose()
  closing.abort()
  const told = [openSessions.farewell(false, "closed"), untilAnswered(mcpCalls)]
  await Promise.all([endTrees(settings, journal, log), ...told])
  return 0
}

function open<Value>(value: Value | null): Value {
  if (value === null) throw new Error("the gateway was asked before it was ready")
  return value
}
