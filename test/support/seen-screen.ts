/**
 * What a program puts on a terminal, both of its outputs together, until it ends; one that would go
 * on is told to end once it has shown what it has.
 */
export async function seenScreen(
  argv: readonly string[],
  options: { env: Record<string, string | undefined>; cwd: string; typed?: string },
): Promise<string> {
  const pieces: Uint8Array[] = []
  const ended = Promise.withResolvers<void>()
  const startedMs = performance.now()
  let quietSinceMs = startedMs
  const program = Bun.spawn([...argv], {
    env: options.env,
    cwd: options.cwd,
    terminal: {
      cols: 200,
      rows: 50,
      data: (_, bytes) => {
        pieces.push(bytes.slice())
        quietSinceMs = performance.now()
      },
      exit: () => ended.resolve(), // of the stream, after its last byte
    },
  })
  if (options.typed !== undefined) program.terminal?.write(options.typed)
  const watch = setInterval(() => {
    // Not a limit that is tested: only how long somebody would look at what stays as it is.
    const nowMs = performance.now()
    const isQuiet = nowMs - quietSinceMs > (pieces.length === 0 ? firstByteMs : quietMs)
    if (isQuiet || nowMs - startedMs > patienceMs) program.kill("SIGTERM")
    if (nowMs - startedMs > 4 * patienceMs) program.kill("SIGKILL")
  }, 50)
  await Promise.all([program.exited, ended.promise])
  clearInterval(watch)
  program.terminal?.close()
  return Buffer.concat(pieces).toString("utf8")
}

const quietMs = 700
/** Longer: on a busy machine a program may take seconds to begin. */
const firstByteMs = 5_000
const patienceMs = 6_000
