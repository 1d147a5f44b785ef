import { join } from "node:path"
import type { Context } from "../context.ts"
import type { Connection, Transport } from "./connection.ts"
import {
  headersOf,
  type Input,
  programEntry,
  type ServerEntry,
  tokenVariable,
} from "./server-entry.ts"

export type World = Pick<Context, "env" | "home" | "cwd">
export const scopes = ["user", "project"] as const
export type Scope = (typeof scopes)[number]

/** An MCP client: where its configuration is on Linux, and what an entry in it looks like. */
export type McpClient = {
  readonly name: string
  readonly title: string
  /** Where it exists, the client has probably been used here. */
  readonly traces: readonly PathOf[]
  readonly files: { readonly user: PathOf; readonly project?: PathOf }
  readonly format: "json" | "json with comments" | "toml"
  readonly root: string
  readonly transports: readonly Transport[]
  /** How it writes what one of its variables holds; null where it knows no way. */
  readonly token: string | null
  readonly inputs?: readonly Input[]
  entry(connection: Connection, token: string): ServerEntry
  /** What its user does next, and has to know. */
  next(connection: Connection, scope: Scope): readonly string[]
}

type PathOf = (world: World) => string

const ofHome =
  (path: string): PathOf =>
  ({ home }) =>
    join(home, path)
const ofProject =
  (path: string): PathOf =>
  ({ cwd }) =>
    join(cwd, path)
const ofConfig =
  (path: string): PathOf =>
  ({ env, home }) =>
    join(env["XDG_CONFIG_HOME"] || join(home, ".config"), path)
/** A folder in the home directory that one of the client's own variables moves. */
const movable =
  (variable: string, folder: string, path = ""): PathOf =>
  ({ env, home }) =>
    join(env[variable] || join(home, folder), path)

const dollarBraces = `\${${tokenVariable}}`
const envBraces = `\${env:${tokenVariable}}`

const vscodeInput = "cc-executor-token"

/** What most clients have in common. */
const usual = {
  format: "json with comments",
  root: "mcpServers",
  transports: ["stdio", "http"],
  token: dollarBraces,
  entry: (connection: Connection, token: string) => plainEntry(connection, token, "url"),
} as const

export const mcpClients: readonly McpClient[] = [
  {
    ...usual,
    name: "claude-code",
    title: "Claude Code",
    traces: [movable("CLAUDE_CONFIG_DIR", ".claude"), claudeCodeFile],
    files: { user: claudeCodeFile, project: ofProject(".mcp.json") },
    format: "json",
    transports: ["stdio", "http", "ws"],
    entry(connection, token) {
      const type = connection.kind === "program" ? "stdio" : connection.transport
      return { type, ...plainEntry(connection, token, "url") }
    },
    next: (_, scope) => [
      ...(scope === "project" ? ["Claude Code asks before it uses a project's servers."] : []),
      "Restart Claude Code; `claude mcp list` or /mcp shows it.",
    ],
  },
  {
    ...usual,
    name: "claude-desktop",
    title: "Claude Desktop",
    traces: [ofConfig("Claude")],
    files: { user: ofConfig("Claude/claude_desktop_config.json") },
    format: "json",
    transports: ["stdio"],
    token: null,
    next: () => ["Restart Claude Desktop; it is shown under Settings, Developer."],
  },
  {
    ...usual,
    name: "cursor",
    title: "Cursor",
    traces: [ofHome(".cursor")],
    files: { user: ofHome(".cursor/mcp.json"), project: ofProject(".cursor/mcp.json") },
    token: envBraces,
    entry: (connection, token) => ({
      ...(connection.kind === "program" ? { type: "stdio" } : {}),
      ...plainEntry(connection, token, "url"),
    }),
    next: () => ["Restart Cursor, and check in its MCP settings that it is enabled."],
  },
  {
    ...usual,
    name: "vscode",
    title: "VS Code",
    traces: [ofConfig("Code/User")],
    files: { user: ofConfig("Code/User/mcp.json"), project: ofProject(".vscode/mcp.json") },
    root: "servers",
    token: `\${input:${vscodeInput}}`,
    inputs: [
      {
        type: "promptString",
        id: vscodeInput,
        description: "Token of the cc-executor service",
        password: true,
      },
    ],
    entry: (connection, token) => ({
      type: connection.kind === "program" ? "stdio" : "http",
      ...plainEntry(connection, token, "url"),
    }),
    next: ({ needsVariable }) => [
      ...(needsVariable ? ["VS Code asks for the token once and stores it securely."] : []),
      "Run `MCP: List Servers` in VS Code to start it.",
    ],
  },
  {
    ...usual,
    name: "windsurf",
    title: "Windsurf",
    traces: [ofHome(".codeium/windsurf")],
    files: { user: ofHome(".codeium/windsurf/mcp_config.json") },
    token: envBraces,
    entry: (connection, token) => plainEntry(connection, token, "serverUrl"),
    next: () => ["Refresh the MCP servers in Windsurf's Cascade panel, or restart Windsurf."],
  },
  {
    ...usual,
    name: "zed",
    title: "Zed",
    traces: [ofConfig("zed")],
    files: { user: ofConfig("zed/settings.json"), project: ofProject(".zed/settings.json") },
    root: "context_servers",
    token: null, // it sends headers as they stand there
    entry: (connection, token) => ({
      ...plainEntry(connection, token, "url"),
      ...(connection.kind === "program" ? { env: {} } : {}),
    }),
    next: () => ["Zed loads it at once; the Agent Panel's settings show it."],
  },
  {
    ...usual,
    name: "gemini-cli",
    title: "Gemini CLI",
    traces: [ofHome(".gemini")],
    files: { user: ofHome(".gemini/settings.json"), project: ofProject(".gemini/settings.json") },
    entry: (connection, token) => plainEntry(connection, token, "httpUrl"),
    next: () => ["Restart Gemini CLI; /mcp shows it."],
  },
  {
    ...usual,
    name: "codex",
    title: "Codex",
    traces: [movable("CODEX_HOME", ".codex")],
    files: {
      user: movable("CODEX_HOME", ".codex", "config.toml"),
      project: ofProject(".codex/config.toml"),
    },
    format: "toml",
    root: "mcp_servers",
    token: tokenVariable, // it is given names of variables, never what they hold
    entry(connection, token) {
      const { needsVariable } = connection
      if (connection.kind === "program") {
        const { command, args } = connection
        return { command, args, ...(needsVariable ? { env_vars: [token] } : {}) }
      }
      return { url: connection.url, ...(needsVariable ? { bearer_token_env_var: token } : {}) }
    },
    next: (_, scope) => [
      ...(scope === "project"
        ? ["Codex reads it only in projects that you have told it to trust."]
        : []),
      "Restart Codex; /mcp shows it.",
    ],
  },
  {
    ...usual,
    name: "copilot-cli",
    title: "GitHub Copilot CLI",
    traces: [movable("COPILOT_HOME", ".copilot")],
    files: { user: movable("COPILOT_HOME", ".copilot", "mcp-config.json") },
    format: "json",
    entry: (connection, token) => ({
      type: connection.kind === "program" ? "local" : "http",
      ...plainEntry(connection, token, "url"),
      tools: ["*"],
    }),
    next: () => ["Restart Copilot CLI; /mcp show lists it."],
  },
  {
    ...usual,
    name: "kiro",
    title: "Kiro",
    traces: [ofHome(".kiro")],
    files: {
      user: ofHome(".kiro/settings/mcp.json"),
      project: ofProject(".kiro/settings/mcp.json"),
    },
    format: "json",
    next: (connection) => [
      ...(connection.needsVariable
        ? [`Allow Kiro to use the variable ${tokenVariable} when it asks.`]
        : []),
      ...(connection.kind === "address" && connection.url.startsWith("http:")
        ? ["Kiro allows http:// on this machine only; elsewhere use https://."]
        : []),
      "Kiro loads it at once; its MCP panel, or /mcp, shows it.",
    ],
  },
]

function claudeCodeFile({ env, home }: World): string {
  return join(env["CLAUDE_CONFIG_DIR"] || home, ".claude.json")
}

/** Clients differ in what they call an address. */
function plainEntry(connection: Connection, token: string, urlKey: string): ServerEntry {
  if (connection.kind === "program") return programEntry(connection, token)
  return { [urlKey]: connection.url, ...headersOf(connection, token) }
}
