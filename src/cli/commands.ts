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
    summary: "run a command and follow it, or leave it running",
    load: async () => (await import("./commands/run.ts")).runCommand,
  },
  {
    name: "attach",
    group: "Run",
    summary: "follow an execution again, from its first byte or a later one",
    load: async () => (await import("./commands/attach.ts")).attachCommand,
  },
  {
    name: "wait",
    group: "Run",
    summary: "wait until executions have ended",
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
    summary: "show what an execution has written",
    load: async () => (await import("./commands/logs.ts")).logsCommand,
  },
  {
    name: "pause",
    group: "Steer",
    summary: "freeze executions with all their processes and clocks",
    load: async () => (await import("./commands/pause.ts")).pauseCommand,
  },
  {
    name: "resume",
    group: "Steer",
    summary: "let paused executions go on",
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
    summary: "show what the service attests about an ended execution",
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
    summary: "show who asked for what, and check that nothing of it was changed",
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
    summary: "remove all executions that ended some time ago",
    load: async () => (await import("./commands/prune.ts")).pruneCommand,
  },
  {
    name: "token create",
    group: "Access",
    summary: "make a token for a client on another machine, or in another name",
    load: async () => (await import("./commands/token/create.ts")).tokenCreateCommand,
  },
  {
    name: "token new",
    group: "Access",
    summary: "print a token for a file that a service accepts tokens from",
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
    summary: "end tokens at once, also for those who are connected",
    load: async () => (await import("./commands/token/revoke.ts")).tokenRevokeCommand,
  },
  {
    name: "mcp",
    group: "Connect",
    summary: "be an MCP server on standard input and output",
    load: async () => (await import("./commands/mcp.ts")).mcpCommand,
  },
  {
    name: "mcp install",
    group: "Connect",
    summary: "show or write what makes an MCP client use cc-executor",
    load: async () => (await import("./commands/mcp-install.ts")).mcpInstallCommand,
  },
  {
    name: "bridge",
    group: "Connect",
    summary: "carry MCP between standard input and output, WebSocket and HTTP",
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
    summary: "hand the running service over to another program, ending nothing",
    load: async () => (await import("./commands/upgrade.ts")).upgradeCommand,
  },
  {
    name: "doctor",
    group: "Service",
    summary: "say what this machine offers, and what is wrong with it",
    load: async () => (await import("./commands/doctor.ts")).doctorCommand,
  },
  {
    name: "policy",
    group: "Service",
    summary: "say whether a command would be allowed, and why not",
    load: async () => (await import("./commands/policy.ts")).policyCommand,
  },
  {
    name: "healthcheck",
    group: "Service",
    summary: "tell by the exit code whether the service answers",
    load: async () => (await import("./commands/healthcheck.ts")).healthcheckCommand,
  },
  {
    name: "completions",
    group: "Service",
    summary: "print what makes a shell complete commands, options and ids",
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
  return meant === null
    ? "`cc-executor help` lists them."
    : `Did you mean \`cc-executor ${meant}\`?`
}
