import type { Context } from "../context.ts"

/**
 * Asks before something is ended that cannot be begun again. Where nobody can answer, whoever wrote
 * the script has decided already.
 */
export async function askYesNo(
  context: Pick<Context, "stdin" | "stderr">,
  question: string,
): Promise<boolean> {
  const { stdin, stderr } = context
  if (stdin.kind !== "terminal" || !stderr.isTty) return true
  await stderr.write(`${question} [y/N] `)
  const answered = new AbortController()
  let answer = ""
  for await (const chunk of stdin.chunks(answered.signal)) {
    answer += Buffer.from(chunk).toString()
    if (answer.includes("\n")) break
  }
  answered.abort()
  if (!answer.includes("\n")) await stderr.write("\n") // Ctrl-D leaves the cursor in the line
  return /^y(?:es)?$/i.test(answer.trim())
}
