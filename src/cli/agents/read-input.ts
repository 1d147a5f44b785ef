import type { Context } from "../context.ts"

/** All of standard input, as text. */
export async function readInput({ stdin }: Pick<Context, "stdin">): Promise<string> {
  const pieces: Uint8Array[] = []
  const never = new AbortController().signal
  for await (const piece of stdin.chunks(never)) pieces.push(piece)
  return Buffer.concat(pieces).toString("utf8")
}
