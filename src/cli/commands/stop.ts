import { isSameProcess } from "../../service/os/proc.ts"
import { SIGTERM, signalProcess } from "../../service/os/signals.ts"
import { flag, option, type Values } from "../arguments.ts"
import { command } from "../command.ts"
import { localState, stateDirOption } from "../connect/address.ts"
import { tryReach } from "../connect/reach.ts"
import {
  keeperEnd,
  notRunningText,
  type RunningKeeper,
  runningKeeper,
} from "../connect/running-keeper.ts"
import type { Context } from "../context.ts"
import { agreeToEnd } from "../executions/agree-to-end.ts"
import { liveExecutions } from "../executions/list-executions.ts"
import { CommandFailure } from "../failure.ts"
import { spin } from "../terminal/spinner.ts"
import { durationOption } from "../time.ts"

const options = {
  yes: flag("do not ask", { short: "y" }),
  now: flag("kill executions instead of letting them shut down"),
  timeout: option("TIME", "how long to wait for the service to end (default 30s)"),
  ...stateDirOption,
}

type StopValues = Values<typeof options>

export const stopCommand = command({
  usage: ["stop [OPTIONS]"],
  about: `\
Executions are stopped first and get their receipts; on a terminal they are listed, and you are
asked before. The next \`run\` starts a new service.`,
  options,
  examples: {
    "end the service gracefully": "cc-executor stop",
    "end it quickly": "cc-executor stop --now",
  },
  async run(context, { values }) {
    const { paths } = localState(context, values["state-dir"])
    const limitMs = durationOption("--timeout", values.timeout ?? "30s")
    const keeper = runningKeeper(paths.lock)
    if (keeper === null) {
      await context.stderr.write(`${notRunningText(paths.directory, paths.lock)}\n`)
      return 0
    }
    if (values.yes !== true && !(await mayEndAll(context, values))) return 1
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

/** A service that does not answer has nothing to say about what it runs. */
async function mayEndAll(context: Context, values: StopValues): Promise<boolean> {
  if (context.stdin.kind !== "terminal") return true
  const address = { kind: "local", ...localState(context, values["state-dir"]) } as const
  const reached = await tryReach(context, address, "never").catch(() => null)
  if (reached === null) return true
  await using _reached = reached
  const views = await liveExecutions(reached.client)
  if (views.length === 0) return true
  return await agreeToEnd(context, views, { verb: "Stop the service and end", isDecided: false })
}

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

/** Exactly the process that holds the lock, even if its pid was given out again just now. */
function terminate(keeper: RunningKeeper): void {
  if (signalProcess(keeper, SIGTERM) || !isSameProcess(keeper)) return // it ended this very moment
  throw new CommandFailure(
    `The service (pid ${keeper.pid}) belongs to another user. Run this as that user, or as root.`,
  )
}
