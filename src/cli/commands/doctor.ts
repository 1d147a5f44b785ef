import { locateStateDirectory } from "../../service/storage/locate-state-directory.ts"
import { statePathsIn } from "../../service/storage/state-paths.ts"
import { flag } from "../arguments.ts"
import { command } from "../command.ts"
import { namedStateDirectory, stateDirOption } from "../connect/address.ts"
import { examineDirectory } from "../doctor/examine-directory.ts"
import { examineFleet } from "../doctor/examine-fleet.ts"
import { examineMachine, examineOffer } from "../doctor/examine-machine.ts"
import { examineProgram } from "../doctor/examine-program.ts"
import { examineRemote } from "../doctor/examine-remote.ts"
import { fail, findingLines } from "../doctor/finding.ts"
import { coloursFor } from "../terminal/colours.ts"
import { asLines } from "../terminal/terminal-text.ts"

export const doctorCommand = command({
  usage: ["doctor [OPTIONS]"],
  about: "Exits with 1 if something keeps the service from working. Starts nothing.",
  options: { json: flag("one JSON document"), ...stateDirOption },
  examples: {
    "check everything": "cc-executor doctor",
    "for a bug report": "cc-executor doctor --json",
  },
  async run(context, { values }) {
    const located = locateStateDirectory(namedStateDirectory(context, values["state-dir"]))
    const paths = located.ok ? statePathsIn(located.value.path) : null
    const kind = located.ok ? located.value.kind : "not-a-directory"
    const hasDirectory = paths !== null && kind !== "not-a-directory"
    const state = hasDirectory ? { paths, isOwn: kind !== "foreign" } : null
    const program = await examineProgram(context, state)
    const remote = values["state-dir"] === undefined ? await examineRemote(context) : []
    // What a service has is its own to say; without one, this is where the next would start.
    const isServed = program.isRunning || remote.length > 0
    const findings = [
      ...program.findings,
      ...(paths === null ? [] : examineDirectory(paths, context.now())),
      ...(located.ok ? [] : [fail("state directory", located.failure, "no command uses it")]),
      ...(isServed ? [] : await examineOffer(context)),
      ...examineMachine(context),
      ...remote,
      ...(isServed ? await examineFleet(context, values) : []),
    ]
    const lines =
      values.json === true
        ? [JSON.stringify({ findings }, null, 2)]
        : findingLines(findings, coloursFor(context.stdout, context.env))
    await context.stdout.write(asLines(lines))
    return findings.some(({ level }) => level === "fail") ? 1 : 0
  },
})
