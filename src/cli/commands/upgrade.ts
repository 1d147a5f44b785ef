import { resolve } from "node:path"
import { flag, option } from "../arguments.ts"
import { command } from "../command.ts"
import { ownStatePaths, stateDirOption } from "../connect/address.ts"
import { continuedText, type HandedOver, requestHandover } from "../connect/request-handover.ts"
import { notRunningText, type RunningKeeper, runningKeeper } from "../connect/running-keeper.ts"
import { CommandFailure } from "../failure.ts"
import { durationOption } from "../time.ts"

export const upgradeCommand = command({
  usage: ["upgrade [OPTIONS]"],
  about: `\
Upgrades the running service to this program, or another, without ending anything: executions,
their terminals and the queue continue under the same pid. Clients are disconnected for a moment,
reconnect by themselves, and miss nothing. If the new program cannot take over, the old one
continues, and this says why.`,
  options: {
    to: option("FILE", "the program to upgrade to (default: this one)"),
    timeout: option(
      "DURATION",
      "how long that one may take until it has taken over (default: 30s)",
    ),
    json: flag("one JSON document"),
    ...stateDirOption,
  },
  examples: {
    "after replacing this program with a newer one": "cc-executor upgrade",
    "to a program in another place": "cc-executor upgrade --to ./cc-executor-next",
  },
  async run(context, { values }) {
    const paths = ownStatePaths(context, values["state-dir"])
    const keeper = runningKeeper(paths.lock)
    if (keeper === null) {
      await context.stderr.write(`${notRunningText(paths.directory, paths.lock)}\n`)
      return 0
    }
    if (!keeper.upgrades) throw tooOld(keeper)
    const program = values.to === undefined ? [...context.self] : [resolve(context.cwd, values.to)]
    const takeOverMs = Math.max(1, durationOption("--timeout", values.timeout ?? "30s"))
    const report = await requestHandover(context, paths, keeper, { program, takeOverMs })
    if (report.phase === "refused") throw new CommandFailure(report.why)
    const text = values.json === true ? JSON.stringify(report) : sentence(report)
    await context.stdout.write(`${text}\n`)
    return 0
  },
})

function sentence({ from, to, pid, executions, queued, heldMs }: HandedOver): string {
  const change = from === to ? `restarted in place as ${to}` : `upgraded from ${from} to ${to}`
  const held = executions === 0 ? "" : `; output paused ${Math.round(heldMs)} ms`
  return `The service (pid ${pid}) was ${change}: ${continuedText(executions, queued)}${held}.`
}

function tooOld({ pid, version }: RunningKeeper): CommandFailure {
  return new CommandFailure(
    `The service (pid ${pid}) is version ${version}, which cannot be upgraded in place. ` +
      "Stop it with `cc-executor stop`, which also ends its executions, then start the new one.",
  )
}
