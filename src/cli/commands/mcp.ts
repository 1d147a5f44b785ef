import { serveStdioClient } from "../../bridge/clients/stdio-client.ts"
import type { OpenLink } from "../../bridge/targets/reconnecting/link.ts"
import { mcpProtocol, openSocketLink } from "../../bridge/targets/reconnecting/ws-link.ts"
import {
  standardMessageBytes,
  systemClock,
  type TargetDescription,
  type TargetSettings,
  targetLimits,
  targetOpener,
} from "../../bridge/targets/target-opener.ts"
import { onOneLine } from "../../lib/harmless-text.ts"
import type { Log } from "../../lib/log.ts"
import { fail } from "../../lib/result.ts"
import { callerDefaultsMeta } from "../../protocol/mcp-meta-keys.ts"
import { command } from "../command.ts"
import {
  type Address,
  type AddressValues,
  addressOf,
  addressOptions,
  type RemoteAddress,
} from "../connect/address.ts"
import { localServiceLink } from "../connect/local-service-link.ts"
import { callersEnvironment } from "../connect/service-environment.ts"
import type { Context } from "../context.ts"
import { CommandFailure, UsageFailure } from "../failure.ts"
import { untilTold } from "../terminal/interrupts.ts"
import { messageWriter } from "../terminal/message-writer.ts"

export const mcpCommand = command({
  usage: ["mcp [OPTIONS]"],
  about: `\
An MCP server on standard input and output, for clients that start their servers as programs. It
connects to the local service, starting one if necessary, or to the remote one given with --url.
Executions belong to the service and continue when the client leaves. If the service's gateway
restarts, unanswered requests are repeated, and nothing is started twice.`,
  options: addressOptions,
  examples: {
    "register it with Claude Code": "claude mcp add executor -- cc-executor mcp",
    "a service on another machine":
      "cc-executor mcp --url wss://executor.example.net:8003 --token-file ~/.executor-token",
  },
  async run(context, { values }) {
    const address = addressOrFailure(context, values)
    if (address.kind === "remote") address.token?.read() // what is wrong with it is told at once
    await serveMcp(context, address)
    return 0
  },
})

type Unusable = { kind: "unusable"; why: string }

/** A client shows its people what a request is answered with, and hardly why a program ended. */
function addressOrFailure(context: Context, values: AddressValues): Address | Unusable {
  try {
    return addressOf(context, values)
  } catch (error) {
    if (!(error instanceof CommandFailure) || error instanceof UsageFailure) throw error
    return { kind: "unusable", why: error.message }
  }
}

/** The service's keeper starts its gateway again within a second. */
const retry = { tries: 1_000, forMs: 30_000, firstDelayMs: 25, maxDelayMs: 500 }
/** Whether the service is there is for its socket to say, each time. */
const breaker = { failures: Number.POSITIVE_INFINITY, waitMs: 0 }
const graceMs = 1_500
const limits = targetLimits(standardMessageBytes)

async function serveMcp(context: Context, address: Address | Unusable): Promise<void> {
  using over = untilTold(context)
  const log = peoplesLog(context)
  const settings: TargetSettings = {
    retry,
    breaker,
    limits,
    clock: systemClock,
    log,
    callMeta: address.kind === "local" && address.isOwn ? callerDefaults(context) : {},
  }
  await serveStdioClient({
    input: context.stdin.chunks(over.signal),
    write: messageWriter(context.stdout),
    openTarget: targetOpener(targetOf(context, address), settings),
    limits,
    graceMs,
    signal: over.signal,
    log,
  })
}

/** Where the client is, for calls that do not say where they want to run. */
function callerDefaults({ cwd, env }: Context): Record<string, unknown> {
  // A call that names a directory would be told the wrong one by this variable.
  const { PWD: _ofClient, ...variables } = callersEnvironment(env)
  return { [callerDefaultsMeta]: { cwd, env: variables } }
}

function targetOf(context: Context, address: Address | Unusable): TargetDescription {
  const name = address.kind === "remote" ? address.url : "The local service"
  return { kind: "connection", name, isOurs: true, open: linkTo(context, address) }
}

function linkTo(context: Context, address: Address | Unusable): OpenLink {
  switch (address.kind) {
    case "local":
      return localServiceLink(context, address, limits)
    case "remote":
      return remoteLink(address)
    case "unusable":
      return async () => fail({ why: address.why, isTransient: false, hasAnswered: false })
  }
}

function remoteLink(address: RemoteAddress): OpenLink {
  const { url, token, tls } = address
  return async (received) => {
    const headers = token === null ? {} : { authorization: `Bearer ${token.read()}` }
    const openSocket = () => new WebSocket(url, { protocols: [mcpProtocol], headers, tls })
    const opened = await openSocketLink({ openSocket, ...limits }, received)
    if (opened.ok || opened.failure.isTransient) return opened
    const { remoteFailure } = await import("../connect/remote-failure.ts")
    const told = await remoteFailure(address, { why: opened.failure.why, refused: null })
    return { ok: false, failure: { ...opened.failure, why: told.message } }
  }
}

/** On standard error, where clients show it to people; what was said is not said again. */
function peoplesLog({ stderr }: Context): Log {
  let last = ""
  const say = (facts: Readonly<Record<string, unknown>>, event: string) => {
    const { why } = facts
    const text = typeof why === "string" ? `${event}: ${onOneLine(why)}` : event
    if (text === last) return
    last = text
    stderr.write(`cc-executor: ${text}\n`).catch(() => undefined) // nobody looks
  }
  const silent = () => undefined
  return { debug: silent, info: silent, warn: say, error: say }
}
