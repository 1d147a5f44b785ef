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
  traces(world: World): readonly string[]
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
  (...parts: string[]): PathOf =>
  ({ home }) =>
    join(home, ...parts)
const ofProject =
  (...parts: string[]): PathOf =>
  ({ cwd }) =>
    join(cwd, ...parts)
const ofConfig =
  (...parts: string[]): PathOf =>
  ({ env, home }) =>
    join(env["XDG_CONFIG_HOME"] || join(home, ".config"), ...parts)
/** A folder in the home directory that one of the client's own variables moves. */
const movable =
  (variable: string, folder: string, ...parts: string[]): PathOf =>
  ({ env, home }) =>
    join(env[variable] || join(home, folder), ...parts)

const dollarBraces = `\${${tokenVariable}}`
const envBraces = `\${env:${tokenVariable}}`

const claudeCode: McpClient = {
  name: "claude-code",
  title: "Claude Code",
  traces: (world) => [movable("CLAUDE_CONFIG_DIR", ".claude")(world), claudeCodeFile(world)],
  files: { user: claudeCodeFile, project: ofProject(".mcp.json") },
  format: "json",
  root: "mcpServers",
  transports: ["stdio", "http", "ws"],
  token: dollarBraces,
  entry(connection, token) {
    if (connection.kind === "program") return { type: "stdio", ...programEntry(connection, token) }
    const { transport: type, url } = connection
    return { type, url, ...headersOf(connection, token) }
  },
  next: (_, scope) => [
    ...(scope === "project" ? ["Claude Code asks before it uses a project's servers."] : []),
    "Restart Claude Code; `claude mcp list` or /mcp shows it.",
  ],
}

function claudeCodeFile({ env, home }: World): string {
  return join(env["CLAUDE_CONFIG_DIR"] || home, ".claude.json")
}

const claudeDesktop: McpClient = {
  name: "claude-desktop",
  title: "Claude Desktop",
  traces: (world) => [ofConfig("Claude")(world)],
  files: { user: ofConfig("Claude", "claude_desktop_config.json") },
  format: "json",
  root: "mcpServers",
  transports: ["stdio"],
  token: null,
  entry: (connection, token) => plainEntry(connection, token, "url"),
  next: () => ["Restart Claude Desktop; it is shown under Settings, Developer."],
}

const cursor: McpClient = {
  name: "cursor",
  title: "Cursor",
  traces: (world) => [ofHome(".cursor")(world)],
  files: { user: ofHome(".cursor", "mcp.json"), project: ofProject(".cursor", "mcp.json") },
  format: "json with comments",
  root: "mcpServers",
  transports: ["stdio", "http"],
  token: envBraces,
  entry: (connection, token) => ({
    ...(connection.kind === "program" ? { type: "stdio" } : {}),
    ...plainEntry(connection, token, "url"),
  }),
  next: () => ["Restart Cursor, and check in its MCP settings that it is enabled."],
}

const vscodeInput = "cc-executor-token"

const vscode: McpClient = {
  name: "vscode",
  title: "VS Code",
  traces: (world) => [ofConfig("Code", "User")(world)],
  files: { user: ofConfig("Code", "User", "mcp.json"), project: ofProject(".vscode", "mcp.json") },
  format: "json with comments",
  root: "servers",
  transports: ["stdio", "http"],
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
}

const windsurf: McpClient = {
  name: "windsurf",
  title: "Windsurf",
  traces: (world) => [ofHome(".codeium", "windsurf")(world)],
  files: { user: ofHome(".codeium", "windsurf", "mcp_config.json") },
  format: "json with comments",
  root: "mcpServers",
  transports: ["stdio", "http"],
  token: envBraces,
  entry: (connection, token) => plainEntry(connection, token, "serverUrl"),
  next: () => ["Refresh the MCP servers in Windsurf's Cascade panel, or restart Windsurf."],
}

const zed: McpClient = {
  name: "zed",
  title: "Zed",
  traces: (world) => [ofConfig("zed")(world)],
  files: { user: ofConfig("zed", "settings.json"), project: ofProject(".zed", "settings.json") },
  format: "json with comments",
  root: "context_servers",
  transports: ["stdio", "http"],
  token: null, // it sends headers as they stand there
  entry: (connection, token) => ({
    ...plainEntry(connection, token, "url"),
    ...(connection.kind === "program" ? { env: {} } : {}),
  }),
  next: () => ["Zed loads it at once; the Agent Panel's settings show it."],
}

const geminiCli: McpClient = {
  name: "gemini-cli",
  title: "Gemini CLI",
  traces: (world) => [ofHome(".gemini")(world)],
  files: {
    user: ofHome(".gemini", "settings.json"),
    project: ofProject(".gemini", "settings.json"),
  },
  format: "json with comments",
  root: "mcpServers",
  transports: ["stdio", "http"],
  token: dollarBraces,
  entry: (connection, token) => plainEntry(connection, token, "httpUrl"),
  next: () => ["Restart Gemini CLI; /mcp shows it."],
}

const codex: McpClient = {
  name: "codex",
  title: "Codex",
  traces: (world) => [movable("CODEX_HOME", ".codex")(world)],
  files: {
    user: movable("CODEX_HOME", ".codex", "config.toml"),
    project: ofProject(".codex", "config.toml"),
  },
  format: "toml",
  root: "mcp_servers",
  transports: ["stdio", "http"],
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
}

const copilotCli: McpClient = {
  name: "copilot-cli",
  title: "GitHub Copilot CLI",
  traces: (world) => [movable("COPILOT_HOME", ".copilot")(world)],
  files: { user: movable("COPILOT_HOME", ".copilot", "mcp-config.json") },
  format: "json",
  root: "mcpServers",
  transports: ["stdio", "http"],
  token: dollarBraces,
  entry: (connection, token) => ({
    type: connection.kind === "program" ? "local" : "http",
    ...plainEntry(connection, token, "url"),
    tools: ["*"],
  }),
  next: () => ["Restart Copilot CLI; /mcp show lists it."],
}

const kiro: McpClient = {
  name: "kiro",
  title: "Kiro",
  traces: (world) => [ofHome(".kiro")(world)],
  files: {
    user: ofHome(".kiro", "settings", "mcp.json"),
    project: ofProject(".kiro", "settings", "mcp.json"),
  },
  format: "json",
  root: "mcpServers",
  transports: ["stdio", "http"],
  token: dollarBraces,
  entry: (connection, token) => plainEntry(connection, token, "url"),
  next: (connection) => [
    ...(connection.needsVariable
      ? [`Allow Kiro to use the variable ${tokenVariable} when it asks.`]
      : []),
    ...(connection.kind === "address" && connection.url.startsWith("http:")
      ? ["Kiro allows http:// on this machine only; elsewhere use https://."]
      : []),
    "Kiro loads it at once; its MCP panel, or /mcp, shows it.",
  ],
}

/** What most clients have in common; they differ in what they call an address. */
function plainEntry(connection: Connection, token: string, urlKey: string): ServerEntry {
  if (connection.kind === "program") return programEntry(connection, token)
  return { [urlKey]: connection.url, ...headersOf(connection, token) }
}

export const mcpClients: readonly McpClient[] = [
  claudeCode,
  claudeDesktop,
  cursor,
  vscode,
  windsurf,
  zed,
  geminiCli,
  codex,
  copilotCli,
  kiro,
]
