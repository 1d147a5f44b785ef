import { flag } from "../arguments.ts"
import { command } from "../command.ts"
import { stateDirOption, statePaths } from "../connect/address.ts"
import { examineDirectory } from "../doctor/examine-directory.ts"
import { examineMachine } from "../doctor/examine-machine.ts"
import { examineProgram } from "../doctor/examine-program.ts"
import { examineRemote } from "../doctor/examine-remote.ts"
import { findingLines } from "../doctor/finding.ts"
import { coloursFor } from "../terminal/colours.ts"

export const doctorCommand = command({
  usage: ["doctor [OPTIONS]"],
  about: "Exits with 1 if something keeps the service from working. Starts nothing.",
  options: { json: flag("one JSON document"), ...stateDirOption },
  examples: {
    "check everything": "cc-executor doctor",
    "for a bug report": "cc-executor doctor --json",
  },
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
