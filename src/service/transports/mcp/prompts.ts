import {
  type GetPromptResult,
  type Prompt,
  ProtocolError,
  ProtocolErrorCode,
} from "@modelcontextprotocol/server"

type PromptText = (args: Readonly<Record<string, string>>) => string

type PromptEntry = { listed: Prompt; text: PromptText }

/** Ways of working that people ask for by name. */
const entries: readonly PromptEntry[] = [
  {
    listed: {
      name: "run-and-verify",
      title: "Run a command and verify its result",
      description: "Runs a command, waits for it to end, and reports only what the record confirms",
      arguments: [
        { name: "command", description: "the command line to run", required: true },
        { name: "claim", description: "text its output should contain" },
      ],
    },
    text: ({ command = "", claim = "" }) =>
      `Run this command with the tool \`start\`:\n\n${command}\n\n` +
      "Call `wait` until `ended` is true. Then read the end of its output with `output` " +
      "(last_lines). " +
      (claim === ""
        ? "Choose the line that shows whether it succeeded, "
        : `Check whether its output contains this text:\n\n${claim}\n\nTo do so, `) +
      "call `verify` with it as `contains`, and report the exit code and what `verify` answered. " +
      "Claim nothing that the record does not confirm.",
  },
  {
    listed: {
      name: "investigate-failure",
      title: "Find out why an execution failed",
      description: "Examines how an execution ended and what it wrote, and names the cause",
      arguments: [
        { name: "execution_id", description: "the execution that failed", required: true },
      ],
    },
    text: ({ execution_id = "" }) =>
      `Find out why execution ${execution_id} failed.\n\n` +
      "1. Call `wait` with timeout_s 0: how did it end (exit code, signal, cause)?\n" +
      "2. Read its newest output with `output` (last_lines: 100).\n" +
      "3. Search for the first error with `output` (pattern: `(?i)error|fail|panic|exception`, " +
      "context_lines: 5): the first one is the cause more often than the last one.\n" +
      "4. Say what happened, quote the lines that show it, and what to do about it. If the " +
      "record does not show the cause, say so.",
  },
]

export const prompts: readonly Prompt[] = entries.map(({ listed }) => listed)

export function getPrompt(name: string, args: Record<string, string> = {}): GetPromptResult {
  const entry = entries.find(({ listed }) => listed.name === name)
  if (entry === undefined) throw invalid(`Unknown prompt: ${JSON.stringify(name)}.`)
  const missing = entry.listed.arguments?.find(
    (argument) => argument.required === true && (args[argument.name] ?? "") === "",
  )
  if (missing !== undefined) throw invalid(`The prompt ${name} needs \`${missing.name}\`.`)
  const text = entry.text(args)
  const { description } = entry.listed
  return {
    ...(description === undefined ? {} : { description }),
    messages: [{ role: "user", content: { type: "text", text } }],
  }
}

function invalid(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message)
}
