import type { TargetLimits } from "../../bridge/ports.ts"
import { openCommandLink } from "../../bridge/targets/reconnecting/stdio-link.ts"
import { mcpProtocol, openSocketLink } from "../../bridge/targets/reconnecting/ws-link.ts"
import type { TargetDescription } from "../../bridge/targets/target-opener.ts"
import { readCommand } from "../../execution/read-command.ts"
import type { Log } from "../../lib/log.ts"
import { bearerToken } from "../connect/bearer-token.ts"
import { type ClientTlsValues, readClientTls } from "../connect/client-tls.ts"
import type { Context } from "../context.ts"
import { UsageFailure } from "../failure.ts"

export type TargetValues = ClientTlsValues & {
  to?: string | undefined
  "token-file"?: string | undefined
}

type World = { context: Pick<Context, "env">; limits: TargetLimits; log: Log }

/** What `--to`, or the words after `--`, name. */
export function readTarget(
  values: TargetValues,
  words: readonly string[],
  world: World,
): TargetDescription {
  const { to } = values
  if (to === undefined && words.length === 0) {
    throw new UsageFailure("The target is missing: use --to URL, or -- COMMAND.")
  }
  if (to !== undefined && words.length > 0) {
    throw new UsageFailure(`--to and "${words.join(" ")}" are two targets: use only one.`)
  }
  if (to === undefined) return commandTarget(words, world)
  const [, line] = /^stdio:\s*(.*)$/s.exec(to) ?? []
  if (line !== undefined) return commandTarget(wordsOf(line), world)
  return remoteTarget(to, values, world)
}

function wordsOf(line: string): string[] {
  const read = readCommand(line)
  if (read.ok && read.value.kind === "words") return read.value.words
  throw new UsageFailure(
    `--to: "${line}" is not a plain command. Put it after --, word by word; if it needs a ` +
      "shell: -- sh -c 'COMMAND'.",
  )
}

function commandTarget(
  command: readonly string[],
  { context, limits, log }: World,
): TargetDescription {
  const { messageBytes } = limits
  const settings = { command, env: context.env, messageBytes, log }
  return {
    kind: "connection",
    name: command[0] ?? "",
    isOurs: false,
    open: (received) => openCommandLink(settings, received),
  }
}

function remoteTarget(
  to: string,
  values: TargetValues,
  { context, limits }: World,
): TargetDescription {
  const url = URL.parse(to)
  const isKnown = url !== null && /^(?:ws|http)s?:$/.test(url.protocol)
  if (!isKnown) {
    throw new UsageFailure(
      `--to: "${to}" is not a target: use ws://, wss://, http://, https://, or "stdio: COMMAND".`,
    )
  }
  if (url.username !== "" || url.password !== "") {
    throw new UsageFailure(
      "--to: everyone can see a secret in an address: use --token-file instead.",
    )
  }
  const token = bearerToken(context.env, values["token-file"])
  token?.read() // whatever is wrong with it is told before anybody is asked
  const tls = /^(?:wss|https):$/.test(url.protocol) ? readClientTls(context.env, values) : {}
  const authorization = (): Record<string, string> =>
    token === null ? {} : { authorization: `Bearer ${token.read()}` }
  const name = `${url.protocol}//${url.host}${url.pathname}`
  if (url.protocol.startsWith("http")) {
    return { kind: "http", name, isOurs: false, http: { url: url.href, tls, authorization } }
  }
  return {
    kind: "connection",
    name,
    isOurs: false,
    open(received) {
      const headers = authorization()
      const openSocket = () => new WebSocket(url.href, { protocols: [mcpProtocol], headers, tls })
      return openSocketLink({ openSocket, ...limits }, received)
    },
  }
}
