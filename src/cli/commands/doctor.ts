import type { OptionTable } from "../arguments.ts"
import { command } from "../command.ts"
import { statePaths } from "../connect/address.ts"
import { examineDirectory } from "../doctor/examine-directory.ts"
import { examineMachine } from "../doctor/examine-machine.ts"
import { examineProgram } from "../doctor/examine-program.ts"
import { examineRemote } from "../doctor/examine-remote.ts"
import { findingLines } from "../doctor/finding.ts"
import { coloursFor } from "../terminal/colours.ts"

const options = {
  json: { type: "boolean", about: "one JSON document" },
  "state-dir": { type: "string", value: "DIR", about: "the local service's state directory" },
} as const satisfies OptionTable

export const doctorCommand = command({
  usage: ["doctor [OPTIONS]"],
  about: "Exits with 1 if something keeps the service from working. Starts nothing.",
  options,
  examples: [
    { about: "check everything", command: "cc-executor doctor" },
    { about: "for a bug report", command: "cc-executor doctor --json" },
  ],
  operands: { atLeast: 0, atMost: 0, what: "" },
  async run(context, { values }) {
    const paths = statePaths(context, values["state-dir"])
    const findings = [
      ...(await examineProgram(context, paths)),
      ...examineDirectory(paths, context.now()),
      ...(await examineMachine(context)),
      ...(values["state-dir"] === undefined ? await examineRemote(context) : []),
    ]
    const lines = findingLines(findings, coloursFor(context.stdout, context.env))
    const text = values.json === true ? JSON.stringify({ findings }, null, 2) : lines.join("\n")
    await context.stdout.write(`${text}\n`)
    return findings.some(({ level }) => level === "fail") ? 1 : 0
  },
})
