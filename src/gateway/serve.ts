import { addressOf } from "../access/identify.ts"
import { liveStates } from "../execution/state.ts"
import { refuse as refusing } from "../http/answer.ts"
import { createHttpApp } from "../http/app.ts"
import type { Connection as HttpConnection } from "../http/ports.ts"
import { afterTimer } from "../http/timer.ts"
import { openJournalReader } from "../journal/journal-reader.ts"
import { standardOutput } from "../log/standard-output.ts"
import { createLogger, type Logger } from "../log.ts"
import { CollectionPace } from "../process/collection-pace.ts"
import { endLeftovers } from "../process/sweep.ts"
import type { Failure } from "../protocol/failure.ts"
import type { GatewayMessage, GatewaySettings } from "../protocol/ipc.ts"
import type { Session } from "../socket/session.ts"
import { Sessions } from "../socket/sessions.ts"
import { createTranscriptReader } from "../transcript/reader.ts"
import { AuditTrail } from "./audit-trail.ts"
import { type Channel, type KeeperLink, openKeeperLink } from "./keeper-link.ts"
import { type Handlers, listen } from "./listen.ts"
import { LiveExecutions } from "./live-executions.ts"
import { createOperations } from "./operations.ts"
import type { JournalReader, Refusal, Refusals } from "./ports.ts"
import { type Access, openAccess } from "./serve-access.ts"
import type { TlsRefusal } from "./tls-front.ts"

/** Characters of text sent: each message was a string before. */
const collectEveryLength = 12 * 1024 * 1024

/** What one client may leave unread in memory: the largest answer and some more. */
const mostUnsentBytes = 16 * 1024 * 1024

/** Serves clients for the keeper that started this process; answers the exit code. */
export async function serveGateway(): Promise<number> {
  const startedAtMs = performance.now()
  let isDraining = false
  let link: KeeperLink | null = null
  let journal: JournalReader | null = null
  const live: LiveExecutions = new LiveExecutions(
    () => open(link),
    () => open(journal),
  )
  let sessions: Sessions | null = null

  const channel = keeperChannel()
  link = await openKeeperLink(channel, {
    news: (news) => live.take(news),
    draining: (draining) => {
      isDraining = draining
    },
    connections: () => (sessions?.size ?? 0) + live.readerCount,
  })
  const { settings } = link
  await using destination = standardOutput()
  const log = createLogger({
    process: "gateway",
    level: settings.logLevel,
    format: "json", // the keeper, who relays these lines, makes them pretty where that is wanted
    destination,
  })
  const opened = openJournalReader(settings.journalPath)
  if (!opened.ok) {
    channel.send({ kind: "cannot-listen", code: "EJOURNAL", message: opened.failure.message })
    return 1
  }
  using reader = opened.value
  journal = reader

  const transcripts = createTranscriptReader(settings.transcriptsPath)
  const operations = createOperations({
    link: () => open(link),
    journal: () => reader,
    transcripts: () => transcripts,
    live,
    policy: settings.policy,
  })
  const pace = new CollectionPace(collectEveryLength)
  const trail = new AuditTrail(() => open(link), {
    monotonicMs: () => performance.now(),
    after: afterTimer,
  })
  const { access } = settings
  using door = openAccess(settings, log)
  using openSessions = new Sessions({ ...settings, ...access }, operations, {
    log,
    refusals: trail,
    passed: pace.passed,
    flooded: (caller) => door.penalties.impose(caller),
  })
  sessions = openSessions
  const app = createHttpApp({
    operations,
    version: settings.version,
    callerOf: door.callerOf,
    issueTicket: (caller) => door.tickets.issue(caller),
    tarpit: door.tarpit,
    health: {
      facts: () => ({
        uptime_s: (performance.now() - startedAtMs) / 1000,
        sessions: openSessions.size,
        executions: reader.countLive(),
      }),
      unreadiness: () => (isDraining ? [shuttingDown] : []),
    },
    log,
    refusals: trail,
    passed: pace.passed,
    maxMessageBytes: settings.maxMessageBytes,
    streams: {
      maxStreams: settings.maxSessions,
      maxStreamsPerPrincipal: settings.maxSessionsPerPrincipal,
    },
    ...door.known,
  })

  const listening = await listen<Session>(
    {
      ...settings.listen,
      socketPath: settings.socketPath,
      patienceS: Math.round(access.requestTimeoutMs / 1000),
    },
    handlers(settings, openSessions, trail, pace, door, app.fetch),
    { log, refused: (refusal) => trail.refused(unseenClient(refusal)), uidOf: door.uidOf },
  )
  if (!listening.ok) {
    channel.send({ kind: "cannot-listen", ...listening.failure })
    return 1
  }
  using listeners = listening.value
  channel.send({ kind: "listening", port: listeners.port })

  const why = await untilToldToEnd()
  if (why === "keeper gone") await endTrees(settings, reader, log)
  else await Promise.all([trail.close(), openSessions.farewell(isDraining)])
  return 0
}

function handlers(
  settings: GatewaySettings,
  sessions: Sessions,
  trail: Refusals,
  pace: CollectionPace,
  door: Access,
  http: (request: Request, connection: HttpConnection) => Response | Promise<Response>,
): Handlers<Session> {
  const patienceS = settings.access.requestTimeoutMs / 1000
  return {
    async fetch(request, server, peer) {
      // Bun makes the URL of whatever the Host header says.
      const url = URL.parse(request.url)
      const refuse = (failure: Failure) => {
        const via = url?.pathname === "/ws/mcp" ? "websocket" : "http"
        const address = addressOf(peer)
        trail.refused({ principal: null, address, via, method: "connect", failure })
        return refusing(failure)
      }
      if (url === null) return refuse(noHost)
      if (url.pathname !== "/ws/mcp") {
        server.timeout(request, patienceS)
        return http(request, {
          peer,
          hasArrived: () => server.timeout(request, 0),
          hasAnswered: () => server.timeout(request, patienceS),
        })
      }
      const admitted = door.socketDoor(request, url, peer)
      if (!admitted.ok) {
        await door.tarpit.hold(admitted.failure)
        return refuse(admitted.failure)
      }
      using taken = new DisposableStack()
      taken.use(admitted.value.place)
      const protocols = request.headers.get("sec-websocket-protocol")?.split(",") ?? []
      const offered = protocols.map((protocol) => protocol.trim())
      if (offered.includes("mcp")) return refuse(noMcpYet)
      // Bun would choose the first protocol offered, whether we speak it or not.
      const headers = offered.length === 0 ? {} : { "Sec-WebSocket-Protocol": "" }
      const data = { session: null, ...admitted.value }
      if (!server.upgrade(request, { data, headers })) return refuse(notAnUpgrade)
      taken.move() // the socket gives its place back when it is closed
      return undefined
    },
    websocket: {
      idleTimeout: 0,
      sendPings: false, // sessions ping by themselves, and know who answered
      perMessageDeflate: false,
      maxPayloadLength: settings.maxMessageBytes,
      backpressureLimit: mostUnsentBytes,
      closeOnBackpressureLimit: true,
      open(socket) {
        socket.data.session = sessions.open(socket, socket.data.caller)
      },
      async message(socket, message) {
        const { session } = socket.data
        if (session === null) return
        sessions.heard(session)
        pace.passed(message.length)
        await session.receive(typeof message === "string" ? message : message.toString("utf8"))
      },
      pong(socket) {
        if (socket.data.session !== null) sessions.heard(socket.data.session)
      },
      drain(socket) {
        const { session } = socket.data
        if (session === null) return
        sessions.heard(session) // it takes what it gets, however slowly
        if (socket.getBufferedAmount() === 0) session.drained()
      },
      close(socket, code, reason) {
        socket.data.place[Symbol.dispose]()
        const { session } = socket.data
        if (session === null) return
        // Bun has refused it, and this is all it says.
        if (reason === "Received too big message") session.refusedTooLarge(settings.maxMessageBytes)
        sessions.close(session, code)
      },
    },
  }
}

function keeperChannel(): Channel {
  return {
    send(message: GatewayMessage) {
      process.send?.(message)
    },
    onMessage(received) {
      process.on("message", received)
    },
  }
}

function untilToldToEnd(): Promise<"keeper gone" | "signal"> {
  return new Promise((resolve) => {
    process.on("disconnect", () => resolve("keeper gone"))
    process.on("SIGTERM", () => resolve("signal"))
  })
}

/** The keeper died, and nobody else is left to end what it ran. */
async function endTrees(
  settings: GatewaySettings,
  journal: JournalReader,
  log: Logger,
): Promise<void> {
  const left = liveStates.flatMap((state) => journal.list({ state, limit: 1000 })?.records ?? [])
  log.error({ executions: left.length }, "keeper gone: its executions are ended")
  await endLeftovers(settings.stateDir, null, left)
}

const shuttingDown = {
  name: "shutting-down",
  message: "The service is shutting down.",
  action: "Start nothing new; connect again when it has been restarted.",
}

const noMcpYet: Failure = {
  reason: "INVALID_REQUEST",
  message: "MCP is not spoken here yet: connect without the subprotocol `mcp`.",
}

const notAnUpgrade: Failure = {
  reason: "INVALID_REQUEST",
  message: "This address is for WebSockets: connect with ws://.",
}

const noHost: Failure = {
  reason: "INVALID_REQUEST",
  message: "The Host header names no host.",
}

function open<Value>(value: Value | null): Value {
  if (value === null) throw new Error("the gateway was asked before it was ready")
  return value
}

const unseen = {
  full: { reason: "AT_CAPACITY", told: "TLS was refused" },
  handshake: { reason: "UNAUTHORIZED", told: "TLS was refused" },
  stranger: { reason: "FORBIDDEN", told: "TLS was passed by" },
} as const

/** It was turned away before it could ask for anything. */
function unseenClient({ address, kind, why }: TlsRefusal): Refusal {
  const { reason, told } = unseen[kind]
  const failure: Failure = { reason, message: `${told}: ${why}.` }
  return { principal: null, address, via: "tls", method: "connect", failure }
}
