import type { Context } from "../../context.ts"
import { isLively } from "../../terminal/colours.ts"

/** Whether a person can sit in front of a session here. */
export function canView({
  stdin,
  stdout,
  env,
}: Pick<Context, "stdin" | "stdout" | "env">): boolean {
  return stdin.kind === "terminal" && isLively(stdout, env)
}
