import type { RunOptions } from "../../workflow/run/run-options.ts"
import type { World } from "../../workflow/run/world.ts"
import type { Context } from "../context.ts"
import { untilTold } from "../terminal/interrupts.ts"
import { inWorld } from "./in-world.ts"
import { showProgress } from "./show-progress.ts"

export type Followed<Run> = {
  run: Run
  /** Of whoever was told to end; null where it came to its own end. */
  exitCode: number | null
}

/** Runs trials, and shows how far they are; Ctrl-C ends the one that runs. */
export async function followRun<Run>(
  context: Context,
  values: { "state-dir"?: string | undefined },
  use: (world: World, how: Pick<RunOptions, "tell" | "signal">) => Promise<Run>,
): Promise<Followed<Run>> {
  using told = untilTold(context)
  await using view = showProgress(context)
  const how = { tell: view.tell, signal: told.signal }
  const run = await inWorld(context, values, (world) => use(world, how))
  return { run, exitCode: told.exitCode }
}
