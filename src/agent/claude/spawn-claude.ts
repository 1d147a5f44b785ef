import { closeSync } from "node:fs"
import { PipeInput } from "../../service/os/children/pipe-input.ts"
import { PipeOutput } from "../../service/os/children/pipe-output.ts"
import { makePipe } from "../../service/os/libc.ts"

export type Command = {
  argv: readonly string[]
  argv0: string | null
  cwd: string
  env: Record<string, string | undefined>
  /** Called in the turn of the event loop in which the process is there. */
  spawned: (pid: number, exited: Promise<unknown>) => void
  /** What it writes to standard error. */
  complained: (bytes: Uint8Array) => void
}

/** Starts Claude Code on pipes of its own. */
export function spawnClaude({ argv, argv0, cwd, env, spawned }: Command) {
  const stdin = makePipe()
  const stdout = makePipe()
  const stderr = makePipe()
  const child = Bun.spawn([...argv], {
    cwd,
    env,
    stdio: [stdin.readFd, stdout.writeFd, stderr.writeFd],
    ...(argv0 === null ? {} : { argv0 }),
  })
  spawned(child.pid, child.exited)
  for (const fd of [stdin.readFd, stdout.writeFd, stderr.writeFd]) closeSync(fd)
  const input = new PipeInput(stdin.writeFd)
  return {
    child,
    input,
    output: new PipeOutput(stdout.readFd),
    errors: new PipeOutput(stderr.readFd),
  }
}
