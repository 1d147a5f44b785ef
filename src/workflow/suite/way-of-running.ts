import type { SuiteAct } from "./suite.ts"

/** How a test is run. What is asked in words never becomes part of a command line. */
export type WayOfRunning =
  | { kind: "command"; command: string; variables: Record<string, string> }
  /** A command that reads the request. */
  | { kind: "agent"; command: string; request: string }
  | { kind: "session"; request: string }

/**
 * `agent` is `claude`, or a command; null for the template that the file has, else `claude`. A
 * template without the request in it is no agent's, whoever the agent is.
 */
export function wayOfRunning(act: SuiteAct, agent: string | null): WayOfRunning {
  if (act.kind === "command") return { kind: "command", command: act.command, variables: {} }
  const { request, template, tags } = act
  if (template !== null && (agent === null || !/\$\{?REQUEST\b/.test(template))) {
    // The shell puts them where the template has them, as one word each.
    const variables = { REQUEST: request, METATAGS: tags }
    return { kind: "command", command: template, variables }
  }
  if (agent === null || agent === "claude") return { kind: "session", request }
  return { kind: "agent", command: agent, request }
}
