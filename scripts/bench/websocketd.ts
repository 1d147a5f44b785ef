import { aptInstall } from "../system-packages.ts"
import { cpuSecondsOf, peakRssMbOf } from "./process-cost.ts"

/** websocketd on a port of its own: whoever connects gets the command's lines, a frame each. */
export class Websocketd implements AsyncDisposable {
  readonly url: string
  readonly #process: Bun.Subprocess

  private constructor(url: string, process: Bun.Subprocess) {
    this.url = url
    this.#process = process
  }

  static async start(command: readonly string[]): Promise<Websocketd> {
    const port = freePort()
    const flags = ["--address=127.0.0.1", `--port=${port}`, "--loglevel=error"]
    const server = Bun.spawn(["websocketd", ...flags, ...command], {
      stdin: "ignore",
      stdout: "ignore",
      stderr: "inherit",
    })
    const websocketd = new Websocketd(`ws://127.0.0.1:${port}/`, server)
    await websocketd.#listening()
    return websocketd
  }

  cpuSeconds(): number {
    return cpuSecondsOf(this.#process.pid)
  }

  peakRssMb(): number {
    return peakRssMbOf(this.#process.pid)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill()
    await this.#process.exited
  }

  // It does not say when it listens. A plain request starts no command.
  async #listening(): Promise<void> {
    const url = this.url.replace("ws:", "http:")
    for (let attempt = 0; attempt < 100; attempt++) {
      if (this.#process.exitCode !== null) break
      const answers = await fetch(url).then(
        () => true,
        () => false,
      )
      if (answers) return
      await Bun.sleep(50)
    }
    throw new Error("websocketd does not listen")
  }
}

/** Its version; installs it where that is possible, else says how. */
export async function websocketdVersion(): Promise<string> {
  const isRootOfDebian = process.getuid?.() === 0 && Bun.which("apt-get") !== null
  if (Bun.which("websocketd") === null && isRootOfDebian) await aptInstall(["websocketd"])
  if (Bun.which("websocketd") === null) {
    console.error(
      "websocketd is not installed, and there is nothing to compare with.\n" +
        "Debian, Ubuntu: apt-get install websocketd\nelsewhere: http://websocketd.com",
    )
    process.exit(1)
  }
  const { stdout } = Bun.spawnSync(["dpkg-query", "-W", "-f", "${Version}", "websocketd"])
  return stdout.toString() || "of unknown version"
}

// websocketd takes port 0 for 80.
function freePort(): number {
  const probe = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } })
  const { port } = probe
  probe.stop(true)
  return port
}
