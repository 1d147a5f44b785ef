import type { ListenAddress, Listening } from "../../bridge/clients/listening.ts"
import type { OpenTarget, TargetLimits } from "../../bridge/ports.ts"
import {
  standardMessageBytes,
  systemClock,
  targetLimits,
  targetOpener,
} from "../../bridge/targets/target-opener.ts"
import { aborted } from "../../lib/delay.ts"
import type { Result } from "../../lib/result.ts"
import { isLoopbackAddress } from "../../lib/tcp-ends.ts"
import type { LogDestination } from "../../log/destination.ts"
import { createLogger, type Logger, renderingFor } from "../../log/log.ts"
import { openRotatingFile } from "../../log/rotating-file.ts"
import { standardOutput } from "../../log/standard-output.ts"
import { type Arguments, option } from "../arguments.ts"
import { checkExposure, type ListenChoice, readListen } from "../bridge/listen.ts"
import { readTarget } from "../bridge/target.ts"
import { command } from "../command.ts"
import { fileToken } from "../connect/bearer-token.ts"
import { clientTlsOptions } from "../connect/client-tls.ts"
import type { Context } from "../context.ts"
import { CommandFailure, UsageFailure } from "../failure.ts"
import { untilTold } from "../terminal/interrupts.ts"
import { messageWriter } from "../terminal/message-writer.ts"
import { countOption, durationOption, sizeOption } from "../time.ts"

const options = {
  listen: option(
    "PLACE",
    "stdio, ws[:PORT], http[:PORT], or a URL with an address and a path [stdio]",
  ),
  to: option("TARGET", 'ws(s)://…, http(s)://…, or "stdio: COMMAND"'),
  "token-file": option(
    "FILE",
    "the target's token (default $CC_EXECUTOR_TOKEN or $CC_EXECUTOR_TOKEN_FILE)",
  ),
  ...clientTlsOptions,
  "client-token-file": option(
    "FILE",
    "a file with the token that clients other than this user must send",
  ),
  "retry-for": option("TIME", "how long to retry transient failures [10s]"),
  "circuit-failures": option("COUNT", "consecutive failures that open the circuit [10]"),
  "circuit-wait": option("TIME", "how long it stays open [10s]"),
  "idle-timeout": option("TIME", "how long an unused connection to the target is kept [5m]"),
  "max-connections": option("COUNT", "concurrent clients, or copies of a command [128, 32]"),
  "max-message-bytes": option("SIZE", "the largest message [16MiB]"),
  "log-file": option("FILE", "log to this file instead of standard error"),
  "log-level": option("LEVEL", "debug, info, warn, error or silent [info]"),
}

type Values = Arguments<typeof options>["values"]

export const bridgeCommand = command({
  usage: [
    "bridge [--listen PLACE] --to TARGET [OPTIONS]",
    "bridge [--listen PLACE] [OPTIONS] -- COMMAND [ARGUMENTS]",
  ],
  about: `\
Connects MCP clients and servers that speak different transports: standard input and output,
WebSocket and Streamable HTTP, for any MCP server and every protocol revision up to 2026-07-28.
Messages pass unchanged. Transient failures are retried, but a call that may already have been
carried out is not repeated if its tool says that repeating is unsafe. By default it listens on
this machine only, for this user only. See docs/bridge.md.`,
  options,
  examples: {
    "a remote server, for a client that starts its servers as programs":
      "cc-executor bridge --to https://mcp.example.net/mcp --token-file ~/.mcp-token",
    "a server that is a program, for clients that speak HTTP":
      "cc-executor bridge --listen http:8004 -- npx some-mcp-server --verbose",
    "a server over HTTP for clients that speak WebSocket":
      "cc-executor bridge --listen ws --to http://127.0.0.1:3000/mcp",
  },
  operands: { atLeast: 0, what: "" },
  passThrough: true,
  async run(context, { values, operands }) {
    const listen = readListen(values.listen ?? "stdio")
    const bytes = values["max-message-bytes"]
    const messageBytes =
      bytes === undefined ? standardMessageBytes : sizeOption("--max-message-bytes", bytes)
    if (messageBytes < 1024) throw new UsageFailure("--max-message-bytes: the minimum is 1k.")
    const limits = targetLimits(messageBytes)
    const pace = paceOf(values)
    await using destination = logDestination(values["log-file"])
    const level = levelOf(values["log-level"])
    const render = await renderingFor("auto", destination)
    const log = createLogger({ process: "bridge", level, destination, render })
    const target = readTarget(values, operands, { context, limits, log })
    const openTarget = targetOpener(target, {
      ...pace,
      limits,
      clock: systemClock,
      log,
      callMeta: {},
    })
    using over = untilTold(context)
    const serve = listen.kind === "stdio" ? serveStdio : serveNetwork
    const isCommand = operands.length > 0 || values.to?.startsWith("stdio:") === true
    const { signal } = over
    await serve({ context, values, listen, isCommand, openTarget, limits, log, signal })
    return 0
  },
})

type Serving = {
  context: Context
  values: Values
  listen: ListenChoice
  isCommand: boolean
  openTarget: OpenTarget
  limits: TargetLimits
  log: Logger
  signal: AbortSignal
}

const graceMs = 1_500

async function serveStdio({ context, openTarget, limits, log, signal }: Serving): Promise<void> {
  const { serveStdioClient } = await import("../../bridge/clients/stdio-client.ts")
  const input = context.stdin.chunks(signal)
  const write = messageWriter(context.stdout)
  await serveStdioClient({ input, write, openTarget, limits, graceMs, signal, log })
}

async function serveNetwork(serving: Serving): Promise<void> {
  const { values, listen, isCommand, openTarget, limits, log } = serving
  if (listen.kind === "stdio") return
  const { address } = listen
  const tokenFile = values["client-token-file"]
  checkExposure(address, tokenFile !== undefined)
  const clientToken = tokenFile === undefined ? null : fileToken("--client-token-file", tokenFile)
  clientToken?.read()
  const { createRequestGuard } = await import("../../bridge/clients/request-guard.ts")
  const { peerUsers } = await import("../../service/os/network/peer-user.ts")
  using users = peerUsers()
  const guard = createRequestGuard({
    host: address.host,
    clientToken: clientToken === null ? null : () => clientToken.read(),
    ownUid: process.geteuid?.() ?? -1,
    uidOf: (ends) => users.uidOf(ends),
  })
  // Each client of a command has a copy of it for itself.
  const most = isCommand ? "32" : "128"
  const connections = countOption("--max-connections", values["max-connections"] ?? most)
  const idleMs = durationOption("--idle-timeout", values["idle-timeout"] ?? "5m")
  const common = { address, guard, openTarget, limits, connections, idleMs, log }
  const served =
    address.scheme === "ws"
      ? (await import("../../bridge/clients/socket-clients.ts")).serveSocketClients(common)
      : (await import("../../bridge/clients/http-clients.ts")).serveHttpClients(common)
  await listenUntil(served, address, serving)
}

async function listenUntil(
  served: Result<Listening, string>,
  { host }: ListenAddress,
  { context, log, signal }: Serving,
): Promise<void> {
  if (!served.ok) throw new CommandFailure(served.failure)
  const listening = served.value
  const { url } = listening
  log.info({ url }, "listening")
  await context.stderr.write(`cc-executor: listening on ${url}\n`).catch(() => undefined)
  if (!isLoopbackAddress(host)) {
    log.warn({ url }, "tokens and messages travel in clear text there")
  }
  await aborted(signal)
  await listening.close()
}

function paceOf(values: Values) {
  const forMs = durationOption("--retry-for", values["retry-for"] ?? "10s")
  const failures = countOption("--circuit-failures", values["circuit-failures"] ?? "10")
  const waitMs = durationOption("--circuit-wait", values["circuit-wait"] ?? "10s")
  if (failures === 0) throw new UsageFailure("--circuit-failures: the minimum is 1.")
  const retry = { tries: 6, forMs, firstDelayMs: 100, maxDelayMs: 2_000 }
  return { retry, breaker: { failures, waitMs } }
}

const levels = ["debug", "info", "warn", "error", "silent"] as const

function levelOf(text = "info"): (typeof levels)[number] {
  const level = levels.find((one) => one === text)
  if (level !== undefined) return level
  throw new UsageFailure(`--log-level: "${text}" is not a level: use ${levels.join(", ")}.`)
}

const logFileBytes = 10 * 1024 * 1024
const logFiles = 5

/** Never to standard output: the protocol is there. */
function logDestination(path: string | undefined): LogDestination {
  if (path === undefined) return standardOutput(2)
  const opened = openRotatingFile({ path, maxBytes: logFileBytes, keep: logFiles })
  if (opened.ok) return opened.value
  throw new CommandFailure(
    `The log file ${path} cannot be written (${opened.failure.errno}). Choose another --log-file.`,
  )
}
