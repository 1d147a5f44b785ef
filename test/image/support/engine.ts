import { root } from "../../../scripts/steps.ts"

export type Done = { exitCode: number; stdout: string; stderr: string }

export type RunOptions = { cwd?: string; env?: Record<string, string> }

/** A container engine, as whoever types `docker` has it. */
export class Engine {
  /** What a program needs in its environment to reach it. */
  readonly env: Readonly<Record<string, string>>

  constructor(env: Readonly<Record<string, string>>) {
    this.env = env
  }

  async run(command: readonly string[], options: RunOptions = {}): Promise<Done> {
    const child = Bun.spawn([...command], {
      cwd: options.cwd ?? root,
      env: { ...process.env, ...this.env, ...options.env },
      stdio: ["ignore", "pipe", "pipe"],
    })
    const [stdout, stderr, exitCode] = await Promise.all([
      child.stdout.text(),
      child.stderr.text(),
      child.exited,
    ])
    return { exitCode, stdout, stderr }
  }

  /** What it printed; a failure throws with what it complained of. */
  async must(command: readonly string[], options: RunOptions = {}): Promise<string> {
    const { exitCode, stdout, stderr } = await this.run(command, options)
    if (exitCode === 0) return stdout.trim()
    throw new Error(`${command.join(" ")} failed (${exitCode}):\n${stdout}${stderr}`)
  }

  docker(...args: string[]): Promise<string> {
    return this.must(["docker", ...args])
  }
}
