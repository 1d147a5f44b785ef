import type { Context } from "../context.ts"
import type { Text } from "./terminal-text.ts"

/** Asks whoever sits at a terminal; the answer is null where nobody does, or says no more. */
export type Asking = Disposable & { ask(question: Text): Promise<string | null> }

/** Input can be read only once: so all questions of a command are asked by one of these. */
export function askLines({ stdin, stderr }: Pick<Context, "stdin" | "stderr">): Asking {
  const answered = new AbortController()
  const isThere = stdin.kind === "terminal" && stderr.isTty
  const chunks = isThere ? stdin.chunks(answered.signal)[Symbol.asyncIterator]() : null
  let typed = ""
  return {
    async ask(question) {
      if (chunks === null) return null
      await stderr.write(question)
      while (!typed.includes("\n")) {
        const next = await chunks.next()
        if (next.done === true) {
          await stderr.write("\n") // Ctrl-D leaves the cursor in the line
          return null
        }
        typed += Buffer.from(next.value).toString()
      }
      const [line = "", ...rest] = typed.split("\n")
      typed = rest.join("\n")
      return line.trim()
    },
    [Symbol.dispose]: () => answered.abort(),
  }
}
