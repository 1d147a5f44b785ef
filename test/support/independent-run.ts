import { join } from "node:path"

export type Digest = { bytes: number; hash: string }
export type IndependentRun = { stdout: Digest; stderr: Digest; exitCode: number }

/** A tiny real program of test/fixtures, as an argv. */
export function fixture(name: string, ...args: (string | number)[]): string[] {
  return [process.execPath, join(import.meta.dir, "../fixtures", name), ...args.map(String)]
}

/** What a command writes when nobody stands between: the truth to compare with. */
export async function runIndependently(argv: string[]): Promise<IndependentRun> {
  const child = Bun.spawn(argv, { stdin: "ignore", stdout: "pipe", stderr: "pipe" })
  const digests = Promise.all([digest(child.stdout), digest(child.stderr)])
  const [[stdout, stderr], exitCode] = await Promise.all([digests, child.exited])
  return { stdout, stderr, exitCode }
}

async function digest(output: ReadableStream<Uint8Array>): Promise<Digest> {
  const hasher = new Bun.CryptoHasher("sha256")
  let bytes = 0
  for await (const piece of output) {
    hasher.update(piece)
    bytes += piece.length
  }
  return { bytes, hash: hasher.digest("hex") }
}
