import type { Context } from "../context.ts"
import { isLively } from "./colours.ts"
import { eraseLine } from "./terminal-text.ts"

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"] as const
const frameMs = 80

/** Says on a terminal that something takes its time; elsewhere, and if it is quick, nothing. */
export function spin(
  context: Pick<Context, "stderr" | "env">,
  text: string,
  afterMs = 300,
): AsyncDisposable {
  if (!isLively(context.stderr, context.env)) return { [Symbol.asyncDispose]: async () => {} }
  let frame = 0
  let shown: Promise<void> | null = null
  const show = () => {
    shown = context.stderr.write([eraseLine, `${frames[frame % frames.length]} ${text}`])
    shown.catch(() => clearInterval(timer)) // a terminal that is gone needs no spinner
    frame += 1
  }
  let timer = setTimeout(() => {
    show()
    timer = setInterval(show, frameMs)
  }, afterMs)
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      if (shown !== null) await context.stderr.write(eraseLine)
    },
  }
}
