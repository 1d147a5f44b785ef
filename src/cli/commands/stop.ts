import { isErrno } from "../../lib/errno.ts"
import { flag, option } from "../arguments.ts"
import { command } from "../command.ts"
import { stateDirOption, statePaths } from "../connect/address.ts"
import { keeperEnd, type RunningKeeper, runningKeeper } from "../connect/running-keeper.ts"
import type { Context } from "../context.ts"
import { CommandFailure } from "../failure.ts"
import { spin } from "../terminal/spinner.ts"
import { durationOption } from "../time.ts"

export const stopCommand = command({
  usage: ["stop [OPTIONS]"],
  about:
    "Executions are stopped first and get their receipts. The next `run` starts a new service.",
  options: {
    now: flag("kill executions instead of letting them shut down"),
    timeout: option("TIME", "how long to wait for the service to end (default 30s)"),
    ...stateDirOption,
  },
  examples: {
    "end the service gracefully": "cc-executor stop",
    "end it quickly": "cc-executor stop --now",
  },
  async run(context, { values }) {
    const paths = statePaths(context, values["state-dir"])
    const limitMs = durationOption("--timeout", values.timeout ?? "30s")
    const keeper = runningKeeper(paths.lock)
    if (keeper === null) {
      await context.stderr.write(`No service is running for ${paths.directory}.\n`)
      return 0
    }
    const hasEnded = await end(context, paths.lock, keeper, { now: values.now === true, limitMs })
    if (!hasEnded) {
      throw new CommandFailure(
        `The service (pid ${keeper.pid}) has not ended within ${limitMs / 1000} s. ` +
          `Try \`cc-executor stop --now\`, then kill -9 ${keeper.pid}.`,
      )
    }
    await context.stderr.write(`The service (pid ${keeper.pid}) has ended.\n`)
    return 0
  },
})

// A second signal that comes sooner is taken for the first: Ctrl-C under npm arrives twice.
const insistAfterMs = 600

async function end(
  context: Context,
  lockPath: string,
  keeper: RunningKeeper,
  { now, limitMs }: { now: boolean; limitMs: number },
): Promise<boolean> {
  await using _spinner = spin(context, "stopping the service…", 0)
  terminate(keeper)
  if (!now) return await keeperEnd(lockPath, keeper, limitMs)
  if (await keeperEnd(lockPath, keeper, insistAfterMs)) return true
  terminate(keeper)
  return await keeperEnd(lockPath, keeper, limitMs)
}

function terminate({ pid }: RunningKeeper): void {
  try {
    process.kill(pid, "SIGTERM")
  } catch (error) {
    if (isErrno(error, "EPERM")) {
      throw new CommandFailure(
        `The service (pid ${pid}) belongs to another user. Run this as that user, or as root.`,
      )
    }
    if (!isErrno(error, "ESRCH")) throw error // it ended this very moment
  }
}
