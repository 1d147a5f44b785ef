import { messageOf } from "../../lib/errno.ts"
import { fail, ok, type Result } from "../../lib/result.ts"
import { allowTracingBy } from "./libc.ts"
import { thisProgram } from "./own-program.ts"
import type { Reaper } from "./reaper.ts"

/** What this program is started with to watch the one that takes over; then a pid and a limit. */
const watchdogArgument = "__upgrade-watchdog"
/** What it says, on a line, when it watches. */
export const watchingWord = "watching"

/**
 * Starts this program once more, to watch this process when it becomes another program; or says
 * why it cannot be watched. It ends by itself when there is nothing more to watch.
 */
export async function spawnWatchdog(
  options: { self: readonly string[]; env: Record<string, string | undefined> },
  reaper: Pick<Reaper, "isMine">,
  limits: { startMs: number; takeOverMs: number },
): Promise<Result<null, string>> {
  const command = [watchdogArgument, String(process.pid), String(limits.takeOverMs)]
  try {
    // Of this very session, by which the next program knows that it belongs to no execution.
    const child = Bun.spawn([...thisProgram(options.self), ...command], {
      env: options.env,
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
    })
    reaper.isMine(child.pid, child.exited)
    allowTracingBy(child.pid)
    let isLate = false
    const tooLate = setTimeout(() => {
      isLate = true
      child.kill("SIGKILL")
    }, limits.startMs)
    await child.stdin.end()
    const said = await firstLine(child.stdout)
    clearTimeout(tooLate)
    if (said === watchingWord) return ok(null)
    if (isLate) return fail(`It did not start within ${limits.startMs / 1000} s`)
    return fail(said === "" ? "It ended before it watched" : said)
  } catch (error) {
    return fail(messageOf(error))
  }
}

async function firstLine(output: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ""
  for await (const piece of output) {
    text += decoder.decode(piece, { stream: true })
    if (text.includes("\n")) break
  }
  return text.split("\n")[0] ?? ""
}
