import { existsSync } from "node:fs"
import { suggest } from "../../lib/suggest.ts"
import { type Arguments, flag, option } from "../arguments.ts"
import { command } from "../command.ts"
import { addressOptions } from "../connect/address.ts"
import type { Context } from "../context.ts"
import { quoted } from "../executions/execution-text.ts"
import { CommandFailure, UsageFailure } from "../failure.ts"
import { type McpClient, mcpClients, type Scope, scopes } from "../mcp-install/clients.ts"
import { readConfigFile, writeConfigFile } from "../mcp-install/config-file.ts"
import {
  type Connection,
  connectionOf,
  type Transport,
  transports,
} from "../mcp-install/connection.ts"
import { jsonDocument, mergeJson } from "../mcp-install/merge-json.ts"
import { mergeToml, tomlDocument } from "../mcp-install/merge-toml.ts"
import { type Merged, tokenVariable, type Wanted } from "../mcp-install/server-entry.ts"
import { coloursFor } from "../terminal/colours.ts"
import { renderTable } from "../terminal/table.ts"
import { asLines, type Text } from "../terminal/terminal-text.ts"

const defaultName = "cc-executor"

const options = {
  write: flag("write to the client's file instead of showing the entry"),
  force: flag("with --write: replace an existing entry of that name"),
  list: flag("list the clients, and which of them are used here"),
  scope: option("SCOPE", "user (default) or project", { choices: scopes }),
  transport: option("KIND", "stdio (default), http or ws, if the client supports it", {
    choices: transports,
  }),
  name: option("NAME", `the server's name in the client (${defaultName})`),
  ...addressOptions,
}

type InstallValues = Arguments<typeof options>["values"]

export const mcpInstallCommand = command({
  usage: ["mcp install CLIENT [OPTIONS]", "mcp install --list"],
  about: `\
Clients: ${mcpClients.map(({ name }) => name).join(", ")}.

With stdio the client starts \`cc-executor mcp\`, which finds or starts the local service, or
connects to the one given with --url. With http and ws the client itself connects to a running
service. A token is never shown or written: the client reads it from $${tokenVariable}, or
cc-executor from its --token-file.`,
  options,
  examples: {
    "show what Claude Code needs": "cc-executor mcp install claude-code",
    "write it for Cursor": "cc-executor mcp install cursor --write",
    "a service on another machine":
      "cc-executor mcp install zed --url wss://host:8003 --token-file /home/me/ci.token",
  },
  operands: { atLeast: 0, atMost: 1, what: "" },
  async run(context, { values, operands: [name] }) {
    if (name === undefined || values.list === true) {
      await context.stdout.write(asLines(clientTable(context)))
      return 0
    }
    const setUp = setUpOf(context, clientNamed(name), values)
    if (values.write === true) return write(context, setUp, values)
    if (values.force === true) throw new UsageFailure("--force needs --write.")
    return show(context, setUp)
  },
})

const columns = ["CLIENT", "HERE", "TRANSPORTS", "SCOPES", "FILE"]

/** What can be set up, and what seems to be in use here. */
function clientTable(context: Context): Text[] {
  const colours = coloursFor(context.stdout, context.env)
  const rows = mcpClients.map((client) => {
    const isHere = client.traces.some((path) => existsSync(path(context)))
    return [
      { text: client.name, paint: colours.cyan },
      { text: isHere ? "yes" : "no", paint: isHere ? colours.green : colours.dim },
      { text: client.transports.join(",") },
      { text: Object.keys(client.files).join(",") },
      { text: client.files.user(context) },
    ]
  })
  return renderTable(columns, rows, context.stdout.width())
}

function clientNamed(name: string): McpClient {
  const client = mcpClients.find((candidate) => candidate.name === name)
  if (client !== undefined) return client
  const names = mcpClients.map((candidate) => candidate.name)
  const meant = suggest(name, names)
  const hint = meant === null ? `Known clients: ${names.join(", ")}.` : `Did you mean ${meant}?`
  throw new UsageFailure(`Unknown client: ${name}. ${hint}`)
}

function scopeOf(client: McpClient, text: string): Scope {
  const scope = scopes.find((candidate) => candidate === text)
  if (scope === undefined) {
    throw new UsageFailure(`--scope: "${text}" is not a scope: use ${scopes.join(" or ")}.`)
  }
  if (client.files[scope] !== undefined) return scope
  throw new UsageFailure(`${client.title} does not support project servers: leave out --scope.`)
}

function transportOf(client: McpClient, text: string): Transport {
  const transport = transports.find((candidate) => candidate === text)
  if (transport === undefined) {
    throw new UsageFailure(
      `--transport: "${text}" is not a transport: use ${transports.join(", ")}.`,
    )
  }
  if (client.transports.includes(transport)) return transport
  const able = client.transports.join(" or ")
  throw new UsageFailure(`${client.title} does not support ${transport}: use --transport ${able}.`)
}

/** As strict as the strictest of the clients. */
function nameOf(values: InstallValues): string {
  const name = values.name ?? defaultName
  if (/^[A-Za-z0-9_-]{1,64}$/.test(name)) return name
  throw new UsageFailure(`--name: "${name}" is not valid: use letters, digits, - and _.`)
}

type SetUp = {
  client: McpClient
  scope: Scope
  connection: Connection
  path: string
  wanted: Wanted
}

function setUpOf(context: Context, client: McpClient, values: InstallValues): SetUp {
  const scope = scopeOf(client, values.scope ?? "user")
  const transport = transportOf(client, values.transport ?? "stdio")
  const connection = connectionOf(context, transport, values)
  const name = nameOf(values)
  const { token, root, inputs = [] } = client
  const { needsVariable } = connection
  if (needsVariable && token === null) throw noVariables(client, connection)
  const path = (client.files[scope] ?? client.files.user)(context)
  const entry = client.entry(connection, token ?? "")
  const wanted = { root, name, entry, inputs: needsVariable ? inputs : [] }
  return { client, scope, connection, path, wanted }
}

function noVariables({ name, title }: McpClient, connection: Connection): UsageFailure {
  const why = `${title} cannot read a token from a variable, and none is ever written to a file.`
  if (connection.kind === "program") {
    return new UsageFailure(`${why} Put it into your own file and use --token-file.`)
  }
  const instead = `cc-executor mcp install ${name} --url ${connection.url} --token-file FILE`
  return new UsageFailure(`${why} Use stdio instead, where cc-executor sends it: \`${instead}\`.`)
}

async function show(context: Context, setUp: SetUp): Promise<number> {
  const { client, path, wanted } = setUp
  const lines = [
    `Add this to ${path}, or let --write do it.`,
    ...ownCommand(setUp),
    ...notes(setUp),
  ]
  await context.stderr.write(`${lines.join("\n")}\n`)
  await context.stdout.write(documentOf(client, wanted))
  return 0
}

/** Claude Code can be told to write its file itself. */
function ownCommand({ client, scope, wanted }: SetUp): string[] {
  if (client.name !== "claude-code") return []
  const json = quoted(JSON.stringify(wanted.entry))
  return [`Or run: claude mcp add-json --scope ${scope} ${wanted.name} ${json}`]
}

function documentOf(client: McpClient, wanted: Wanted): string {
  return client.format === "toml" ? tomlDocument(wanted) : jsonDocument(wanted)
}

async function write(context: Context, setUp: SetUp, values: InstallValues): Promise<number> {
  const { client, scope, path, wanted } = setUp
  const file = readConfigFile(path)
  const merged = mergedInto(client, file.text, wanted, values.force === true)
  switch (merged.kind) {
    case "unchanged":
      await context.stderr.write(`${path} already has this entry; nothing was changed.\n`)
      return 0
    case "exists":
      throw new CommandFailure(
        `${path} has another entry "${wanted.name}"; nothing was changed. ` +
          "Use --force to replace it, or --name to choose another name.",
      )
    case "refused":
      throw new CommandFailure(
        `${path} was not changed: ${merged.why}. ` +
          `Fix it, or add this by hand:\n${documentOf(client, wanted).trimEnd()}`,
      )
    case "changed":
      writeConfigFile(path, file, merged.text, scope === "project")
  }
  const what = file.stat === null ? "Created" : "Changed"
  const lines = [`${what} ${path}: ${client.title} now has ${wanted.name}.`, ...notes(setUp)]
  await context.stderr.write(`${lines.join("\n")}\n`)
  return 0
}

function mergedInto(client: McpClient, text: string, wanted: Wanted, force: boolean): Merged {
  if (client.format === "toml") return mergeToml(text, wanted, { force })
  return mergeJson(text, wanted, { force, comments: client.format === "json with comments" })
}

/** What must be true elsewhere for it to work, and what to do then. */
function notes({ client, scope, connection }: SetUp): string[] {
  const { needsVariable } = connection
  const asks = (client.inputs ?? []).length > 0
  const isElsewhere = connection.kind === "program" && connection.args.includes("--url")
  const hasFile = connection.kind === "program" && connection.args.includes("--token-file")
  return [
    ...(needsVariable && !asks
      ? [`${client.title} must be started with the token in the variable ${tokenVariable}.`]
      : []),
    ...(isElsewhere && !needsVariable && !hasFile
      ? ["No token was given: this works only if the service does not require one."]
      : []),
    ...(connection.kind === "address"
      ? [`A service must be running at ${connection.url}: start it with \`cc-executor serve\`.`]
      : []),
    ...(connection.kind === "program" && scope === "project"
      ? [`It contains the path ${connection.command} of this machine, which others may not have.`]
      : []),
    ...client.next(connection, scope),
  ]
}
