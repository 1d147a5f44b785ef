import type { Config } from "../../../config/config.ts"
import type { Result } from "../../../lib/result.ts"
import type { Listening } from "../../../protocol/upgrade.ts"
import type { StateDirectory } from "../../storage/state-directory.ts"

/** What a service says when it is ready. */
export function readyLine(port: number | null, config: Config, state: StateDirectory): string {
  const where = port === null ? `unix:${state.paths.socket}` : `${urlOf("ws", config, port)}/ws/mcp`
  return `cc-executor: listening on ${where} (state in ${state.path})`
}

/** The same for a program that has asked for an upgrade. */
export function listeningAt(
  opened: Result<number | null, { message: string }>,
  config: Config,
  state: StateDirectory,
): Listening {
  if (!opened.ok) return { kind: "failed", why: opened.failure.message }
  if (opened.value === null) return { kind: "socket", path: state.paths.socket }
  return { kind: "port", url: urlOf("http", config, opened.value) }
}

function urlOf(scheme: "ws" | "http", { hosts, tlsCert }: Config, port: number): string {
  const [host = "127.0.0.1"] = hosts
  const name = host.includes(":") ? `[${host}]` : host
  return `${scheme}${tlsCert === null ? "" : "s"}://${name}:${port}`
}
