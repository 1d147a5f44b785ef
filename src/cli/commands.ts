import { suggest } from "../lib/suggest.ts"
import type { Command } from "./command.ts"
import { nodeCommands } from "./commands/node/node-commands.ts"
import { workCommands } from "./work/work-commands.ts"

export type CommandEntry = {
  /** One word, or the word of a family and its own: `token create`. */
  readonly name: string
  readonly group: string
  readonly summary: string
  /** A command's module is loaded when it is used: most of them need nothing of the others. */
  load(): Promise<Command>
}

/** By group, as help shows them. */
const table = {
  Run: {
    run: {
      summary: "run a command and follow it, or start it in the background",
      load: async () => (await import("./commands/run.ts")).runCommand,
    },
    rerun: {
      summary: "run the command of another execution again, with changes",
      load: async () => (await import("./commands/rerun.ts")).rerunCommand,
    },
    attach: {
      summary: "follow an execution again, from the start or any later point",
      load: async () => (await import("./commands/attach.ts")).attachCommand,
    },
    wait: {
      summary: "wait for executions to end",
      load: async () => (await import("./commands/wait.ts")).waitCommand,
    },
  },
  Agents: {
    claude: {
      summary: "run Claude Code as a session that goes on without this terminal",
      load: async () => (await import("./commands/claude.ts")).claudeCommand,
    },
    inbox: {
      summary: "list the questions of agents that wait for an answer",
      load: async () => (await import("./commands/inbox.ts")).inboxCommand,
    },
    "agent attach": {
      summary: "sit down in front of a session again",
      load: async () => (await import("./commands/agent/attach.ts")).agentAttachCommand,
    },
    "agent status": {
      summary: "show what a session does, what it asks, and what it has used",
      load: async () => (await import("./commands/agent/status.ts")).agentStatusCommand,
    },
    "agent send": {
      summary: "send a session another turn",
      load: async () => (await import("./commands/agent/send.ts")).agentSendCommand,
    },
    "agent answer": {
      summary: "answer a question of a session",
      load: async () => (await import("./commands/agent/answer.ts")).agentAnswerCommand,
    },
    "agent interrupt": {
      summary: "interrupt the turn of a session",
      load: async () => (await import("./commands/agent/interrupt.ts")).agentInterruptCommand,
    },
    "agent configure": {
      summary: "change a session's model or permission mode",
      load: async () => (await import("./commands/agent/configure.ts")).agentConfigureCommand,
    },
    "agent changes": {
      summary: "show what has changed in the worktree of a session",
      load: async () => (await import("./commands/agent/changes.ts")).agentChangesCommand,
    },
    "agent take": {
      summary: "take what has changed in the worktree of a session",
      load: async () => (await import("./commands/agent/take.ts")).agentTakeCommand,
    },
    "agent drop": {
      summary: "remove the worktree of a session",
      load: async () => (await import("./commands/agent/drop.ts")).agentDropCommand,
    },
    "agent end": {
      summary: "end a session when its turn has ended",
      load: async () => (await import("./commands/agent/end.ts")).agentEndCommand,
    },
  },
  Work: workCommands,
  Look: {
    ps: {
      summary: "list executions",
      load: async () => (await import("./commands/ps.ts")).psCommand,
    },
    inspect: {
      summary: "show everything about one execution",
      load: async () => (await import("./commands/inspect.ts")).inspectCommand,
    },
    logs: {
      summary: "show the output of an execution",
      load: async () => (await import("./commands/logs.ts")).logsCommand,
    },
    "notify ls": {
      summary: "list what was told to whom, and what does not arrive",
      load: async () => (await import("./commands/notify/ls.ts")).notifyLsCommand,
    },
    "notify test": {
      summary: "send a test message to a target",
      load: async () => (await import("./commands/notify/test.ts")).notifyTestCommand,
    },
  },
  Steer: {
    pause: {
      summary: "pause executions, with all their processes and timeouts",
      load: async () => (await import("./commands/pause.ts")).pauseCommand,
    },
    resume: {
      summary: "resume paused executions",
      load: async () => (await import("./commands/resume.ts")).resumeCommand,
    },
    cancel: {
      summary: "stop executions with all their processes",
      load: async () => (await import("./commands/cancel.ts")).cancelCommand,
    },
    signal: {
      summary: "send a signal to every process of an execution",
      load: async () => (await import("./commands/signal.ts")).signalCommand,
    },
    send: {
      summary: "write to an execution's standard input",
      load: async () => (await import("./commands/send.ts")).sendCommand,
    },
  },
  Prove: {
    receipt: {
      summary: "show the signed receipt of an ended execution",
      load: async () => (await import("./commands/receipt.ts")).receiptCommand,
    },
    verify: {
      summary: "check a transcript, a receipt, a claim, or the counts and ticks of a file",
      load: async () => (await import("./commands/verify.ts")).verifyCommand,
    },
    audit: {
      summary: "show who asked for what, and check the record for tampering",
      load: async () => (await import("./commands/audit.ts")).auditCommand,
    },
  },
  Tidy: {
    rm: {
      summary: "remove ended executions with their transcripts",
      load: async () => (await import("./commands/rm.ts")).rmCommand,
    },
    prune: {
      summary: "remove old ended executions",
      load: async () => (await import("./commands/prune.ts")).pruneCommand,
    },
  },
  Access: {
    "context add": {
      summary: "save how to reach a remote service under a name",
      load: async () => (await import("./commands/context/add.ts")).contextAddCommand,
    },
    "context use": {
      summary: "use a saved context, or the local service, from now on",
      load: async () => (await import("./commands/context/use.ts")).contextUseCommand,
    },
    "context list": {
      summary: "list saved contexts",
      load: async () => (await import("./commands/context/list.ts")).contextListCommand,
    },
    "context show": {
      summary: "show which service commands use, and why",
      load: async () => (await import("./commands/context/show.ts")).contextShowCommand,
    },
    "context remove": {
      summary: "remove a saved context",
      load: async () => (await import("./commands/context/remove.ts")).contextRemoveCommand,
    },
    "token create": {
      summary: "create a token for a remote client, or for another name",
      load: async () => (await import("./commands/token/create.ts")).tokenCreateCommand,
    },
    "token new": {
      summary: "print a token to put into a file for --accept-token-file",
      load: async () => (await import("./commands/token/new.ts")).tokenNewCommand,
    },
    "token show": {
      summary: "print the token that a service with --make-token has made",
      load: async () => (await import("./commands/token/show.ts")).tokenShowCommand,
    },
    "token list": {
      summary: "list tokens, without their secrets",
      load: async () => (await import("./commands/token/list.ts")).tokenListCommand,
    },
    "token revoke": {
      summary: "revoke tokens, and disconnect the sessions that use them",
      load: async () => (await import("./commands/token/revoke.ts")).tokenRevokeCommand,
    },
  },
  Connect: {
    mcp: {
      summary: "run an MCP server on standard input and output",
      load: async () => (await import("./commands/mcp.ts")).mcpCommand,
    },
    "mcp install": {
      summary: "show or write the configuration of an MCP client",
      load: async () => (await import("./commands/mcp-install.ts")).mcpInstallCommand,
    },
    bridge: {
      summary: "bridge MCP between stdio, WebSocket and HTTP",
      load: async () => (await import("./commands/bridge.ts")).bridgeCommand,
    },
  },
  Fleet: nodeCommands,
  Service: {
    serve: {
      summary: "run the service in the foreground",
      load: async () => (await import("./commands/serve.ts")).serveCommand,
    },
    stop: {
      summary: "end the local service and everything it runs",
      load: async () => (await import("./commands/stop.ts")).stopCommand,
    },
    upgrade: {
      summary: "upgrade the running service without ending executions",
      load: async () => (await import("./commands/upgrade.ts")).upgradeCommand,
    },
    doctor: {
      summary: "check this machine and the service, and say how to fix problems",
      load: async () => (await import("./commands/doctor.ts")).doctorCommand,
    },
    policy: {
      summary: "check whether the policy would allow a command",
      load: async () => (await import("./commands/policy.ts")).policyCommand,
    },
    healthcheck: {
      summary: "exit with 0 if the service is healthy",
      load: async () => (await import("./commands/healthcheck.ts")).healthcheckCommand,
    },
    completions: {
      summary: "print a completion script for bash, zsh or fish",
      load: async () => (await import("./commands/completions.ts")).completionsCommand,
    },
    version: {
      summary: "show the version of this program",
      load: async () => (await import("./commands/version.ts")).versionCommand,
    },
  },
} satisfies Record<string, Record<string, Omit<CommandEntry, "name" | "group">>>

export const commandGroups = Object.keys(table)

export const commands: readonly CommandEntry[] = Object.entries(table).flatMap(([group, entries]) =>
  Object.entries(entries).map(([name, entry]) => ({ name, group, ...entry })),
)

/** What other programs call what is found here, with its options. */
const aliases: ReadonlyMap<string, readonly [name: string, ...options: string[]]> = new Map([
  ["exec", ["run"]],
  ["status", ["inspect"]],
  ["kill", ["cancel"]],
  ["list", ["ps"]],
  ["ls", ["ps"]],
  ["top", ["ps", "--interactive"]],
])

/** What ends or removes things is never offered to somebody who mistyped something else. */
const destructive: ReadonlySet<string> = new Set([
  "stop",
  "cancel",
  "rm",
  "prune",
  "token revoke",
  "context remove",
  "node forget",
])

export type FoundCommand = { entry: CommandEntry; rest: readonly string[] }
/** The command that the first two words name, else the first one; `rest` is what follows. */
export function findCommand(
  argv: readonly string[],
  among: readonly CommandEntry[] = commands,
): FoundCommand | null {
  // `mcp` is a command, and so is `mcp install`.
  for (const words of [2, 1]) {
    const typed = argv.slice(0, words).join(" ")
    const [name, ...options] = aliases.get(typed) ?? [typed]
    const entry = among.find((candidate) => candidate.name === name)
    if (entry !== undefined) return { entry, rest: [...options, ...argv.slice(words)] }
  }
  return null
}

/** The commands that a word is the first of two of. */
export function familyOf(word: string): readonly CommandEntry[] {
  return commands.filter((entry) => entry.name.startsWith(`${word} `))
}

export function suggestCommand(name: string): string {
  const names = commands.flatMap((entry) => [entry.name, entry.name.replace(/ .*/, "")])
  const offered = [...new Set(names), "help"].filter((one) => !destructive.has(one))
  const meant = suggest(name, offered)
  return meant === null ? "" : ` Did you mean \`cc-executor ${meant}\`?`
}
