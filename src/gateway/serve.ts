import { checkOrigin } from "../access/origin.ts"
import { ok } from "../execution/result.ts"
import { liveStates } from "../execution/state.ts"
import { createHttpApp } from "../http/app.ts"
import { openJournalReader } from "../journal/journal-reader.ts"
import { standardOutput } from "../log/standard-output.ts"
import { createLogger, type Logger } from "../log.ts"
import { CollectionPace } from "../process/collection-pace.ts"
import { endLeftovers } from "../process/sweep.ts"
import { type Failure, wireCodes, wireError } from "../protocol/failure.ts"
import type { GatewayMessage, GatewaySettings } from "../protocol/ipc.ts"
import type { Session } from "../socket/session.ts"
import { Sessions } from "../socket/sessions.ts"
import { createTranscriptReader } from "../transcript/reader.ts"
import { type Channel, type KeeperLink, openKeeperLink } from "./keeper-link.ts"
import { type Handlers, listen } from "./listen.ts"
import { LiveExecutions } from "./live-executions.ts"
import { createOperations } from "./operations.ts"
import type { Caller, JournalReader } from "./ports.ts"

/** Everybody who reaches the socket or loopback is this one, until there are tokens. */
const localCaller: Caller = { principal: "local" }

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
  })
  const pace = new CollectionPace(collectEveryLength)
  using openSessions = new Sessions(settings, operations, log, pace.passed)
  sessions = openSessions
  const app = createHttpApp({
    operations,
    version: settings.version,
    callerOf: () => ok(localCaller),
    health: {
      facts: () => ({
        uptime_s: (performance.now() - startedAtMs) / 1000,
        sessions: openSessions.size,
        executions: reader.countLive(),
      }),
      unreadiness: () => (isDraining ? [shuttingDown] : []),
    },
    log,
    passed: pace.passed,
    maxMessageBytes: settings.maxMessageBytes,
    allowedHosts: settings.listen.hosts,
  })

  const listening = listen<Session>(
    { ...settings.listen, socketPath: settings.socketPath },
    handlers(settings, openSessions, pace, (request, isLocal) =>
      app.fetch(request, { isUnixSocket: isLocal }),
    ),
  )
  if (!listening.ok) {
    channel.send({ kind: "cannot-listen", ...listening.failure })
    return 1
  }
  using listeners = listening.value
  channel.send({ kind: "listening", port: listeners.port })

  const why = await untilToldToEnd()
  if (why === "keeper gone") await endTrees(settings, reader, log)
  return 0
}

function handlers(
  settings: GatewaySettings,
  sessions: Sessions,
  pace: CollectionPace,
  http: (request: Request, isLocal: boolean) => Response | Promise<Response>,
): Handlers<Session> {
  return {
    async fetch(request, server, isLocal) {
      // Bun makes the URL of whatever the Host header says.
      const url = URL.parse(request.url)
      if (url === null) return refusal(noHost)
      if (url.pathname !== "/ws/mcp") return http(request, isLocal)
      const origin = checkOrigin({
        host: request.headers.get("host") ?? "",
        origin: request.headers.get("origin"),
        isUnixSocket: isLocal,
        allowedHosts: settings.listen.hosts,
      })
      if (!origin.ok) return refusal(origin.failure)
      const protocols = request.headers.get("sec-websocket-protocol")?.split(",") ?? []
      const offered = protocols.map((protocol) => protocol.trim())
      if (offered.includes("mcp")) return refusal(noMcpYet)
      // Bun would choose the first protocol offered, whether we speak it or not.
      const headers = offered.length === 0 ? {} : { "Sec-WebSocket-Protocol": "" }
      const data = { session: null, isLocal }
      if (server.upgrade(request, { data, headers })) return undefined
      return refusal(notAnUpgrade)
    },
    websocket: {
      idleTimeout: 0,
      sendPings: false, // sessions ping by themselves, and know who answered
      perMessageDeflate: false,
      maxPayloadLength: settings.maxMessageBytes,
      backpressureLimit: mostUnsentBytes,
      closeOnBackpressureLimit: true,
      open(socket) {
        socket.data.session = sessions.open(socket, localCaller)
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
      close(socket, code) {
        if (socket.data.session !== null) sessions.close(socket.data.session, code)
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

function refusal(refused: Failure): Response {
  return Response.json({ error: wireError(refused) }, { status: wireCodes(refused.reason).http })
}

function open<Value>(value: Value | null): Value {
  if (value === null) throw new Error("the gateway was asked before it was ready")
  return value
}
