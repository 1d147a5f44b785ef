import { suggest } from "../lib/suggest.ts"
import type { Command } from "./command.ts"

export type CommandEntry = {
  /** One word, or the word of a family and its own: `token create`. */
  readonly name: string
  readonly group: CommandGroup
  readonly summary: string
  /** A command's module is loaded when it is used: most of them need nothing of the others. */
  load(): Promise<Command>
}

export const commandGroups = [
  "Run",
  "Look",
  "Steer",
  "Prove",
  "Tidy",
  "Access",
  "Connect",
  "Service",
] as const
export type CommandGroup = (typeof commandGroups)[number]

export const commands: readonly CommandEntry[] = [
  {
    name: "run",
    group: "Run",
    summary: "run a command and follow it, or start it in the background",
    load: async () => (await import("./commands/run.ts")).runCommand,
  },
  {
    name: "attach",
    group: "Run",
    summary: "follow an execution again, from the start or any later point",
    load: async () => (await import("./commands/attach.ts")).attachCommand,
  },
  {
    name: "wait",
    group: "Run",
    summary: "wait for executions to end",
    load: async () => (await import("./commands/wait.ts")).waitCommand,
  },
  {
    name: "ps",
    group: "Look",
    summary: "list executions",
    load: async () => (await import("./commands/ps.ts")).psCommand,
  },
  {
    name: "logs",
    group: "Look",
    summary: "show the output of an execution",
    load: async () => (await import("./commands/logs.ts")).logsCommand,
  },
  {
    name: "pause",
    group: "Steer",
    summary: "pause executions, with all their processes and timeouts",
    load: async () => (await import("./commands/pause.ts")).pauseCommand,
  },
  {
    name: "resume",
    group: "Steer",
    summary: "resume paused executions",
    load: async () => (await import("./commands/resume.ts")).resumeCommand,
  },
  {
    name: "cancel",
    group: "Steer",
    summary: "stop executions with all their processes",
    load: async () => (await import("./commands/cancel.ts")).cancelCommand,
  },
  {
    name: "signal",
    group: "Steer",
    summary: "send a signal to every process of an execution",
    load: async () => (await import("./commands/signal.ts")).signalCommand,
  },
  {
    name: "send",
    group: "Steer",
    summary: "write to an execution's standard input",
    load: async () => (await import("./commands/send.ts")).sendCommand,
  },
  {
    name: "receipt",
    group: "Prove",
    summary: "show the signed receipt of an ended execution",
    load: async () => (await import("./commands/receipt.ts")).receiptCommand,
  },
  {
    name: "verify",
    group: "Prove",
    summary: "check a transcript, a receipt, or a claim about them",
    load: async () => (await import("./commands/verify.ts")).verifyCommand,
  },
  {
    name: "audit",
    group: "Prove",
    summary: "show who asked for what, and check the record for tampering",
    load: async () => (await import("./commands/audit.ts")).auditCommand,
  },
  {
    name: "rm",
    group: "Tidy",
    summary: "remove ended executions with their transcripts",
    load: async () => (await import("./commands/rm.ts")).rmCommand,
  },
  {
    name: "prune",
    group: "Tidy",
    summary: "remove old ended executions",
    load: async () => (await import("./commands/prune.ts")).pruneCommand,
  },
  {
    name: "token create",
    group: "Access",
    summary: "create a token for a remote client, or for another name",
    load: async () => (await import("./commands/token/create.ts")).tokenCreateCommand,
  },
  {
    name: "token new",
    group: "Access",
    summary: "print a token to put into a file for --accept-token-file",
    load: async () => (await import("./commands/token/new.ts")).tokenNewCommand,
  },
  {
    name: "token list",
    group: "Access",
    summary: "list tokens, without their secrets",
    load: async () => (await import("./commands/token/list.ts")).tokenListCommand,
  },
  {
    name: "token revoke",
    group: "Access",
    summary: "revoke tokens, and disconnect the sessions that use them",
    load: async () => (await import("./commands/token/revoke.ts")).tokenRevokeCommand,
  },
  {
    name: "mcp",
    group: "Connect",
    summary: "run an MCP server on standard input and output",
    load: async () => (await import("./commands/mcp.ts")).mcpCommand,
  },
  {
    name: "mcp install",
    group: "Connect",
    summary: "show or write the configuration of an MCP client",
    load: async () => (await import("./commands/mcp-install.ts")).mcpInstallCommand,
  },
  {
    name: "bridge",
    group: "Connect",
    summary: "bridge MCP between stdio, WebSocket and HTTP",
    load: async () => (await import("./commands/bridge.ts")).bridgeCommand,
  },
  {
    name: "serve",
    group: "Service",
    summary: "run the service in the foreground",
    load: async () => (await import("./commands/serve.ts")).serveCommand,
  },
  {
    name: "stop",
    group: "Service",
    summary: "end the local service and everything it runs",
    load: async () => (await import("./commands/stop.ts")).stopCommand,
  },
  {
    name: "upgrade",
    group: "Service",
    summary: "upgrade the running service without ending executions",
    load: async () => (await import("./commands/upgrade.ts")).upgradeCommand,
  },
  {
    name: "doctor",
    group: "Service",
    summary: "check this machine and the service, and say how to fix problems",
    load: async () => (await import("./commands/doctor.ts")).doctorCommand,
  },
  {
    name: "policy",
    group: "Service",
    summary: "check whether the policy would allow a command",
    load: async () => (await import("./commands/policy.ts")).policyCommand,
  },
  {
    name: "healthcheck",
    group: "Service",
    summary: "exit with 0 if the service is healthy",
    load: async () => (await import("./commands/healthcheck.ts")).healthcheckCommand,
  },
  {
    name: "completions",
    group: "Service",
    summary: "print a completion script for bash, zsh or fish",
    load: async () => (await import("./commands/completions.ts")).completionsCommand,
  },
  {
    name: "version",
    group: "Service",
    summary: "show the version of this program",
    load: async () => (await import("./commands/version.ts")).versionCommand,
  },
]

export type FoundCommand = { entry: CommandEntry; rest: readonly string[] }

/** The command that the first two words name, else the first one; `rest` is what follows. */
export function findCommand(
  argv: readonly string[],
  among: readonly CommandEntry[] = commands,
): FoundCommand | null {
  // `mcp` is a command, and so is `mcp install`.
  for (const words of [2, 1]) {
    const name = argv.slice(0, words).join(" ")
    const entry = among.find((candidate) => candidate.name === name)
    if (entry !== undefined) return { entry, rest: argv.slice(words) }
  }
  return null
}

/** The commands that a word is the first of two of. */
export function familyOf(word: string): readonly CommandEntry[] {
  return commands.filter((entry) => entry.name.startsWith(`${word} `))
}

export function suggestCommand(name: string): string {
  const names = commands.flatMap((entry) => [entry.name, entry.name.replace(/ .*/, "")])
  const meant = suggest(name, [...new Set(names), "help"])
  return meant === null ? "" : ` Did you mean \`cc-executor ${meant}\`?`
}
