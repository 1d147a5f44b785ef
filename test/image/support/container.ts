import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { z } from "zod"
import { type Client, connect } from "../../../src/client/connect.ts"
import { until } from "../../support/until.ts"
import type { Engine } from "./engine.ts"
import type { Images } from "./images.ts"

/** As a careful operator runs it. */
const hardened = [
  "--read-only",
  "--tmpfs=/tmp",
  "--cap-drop=ALL",
  "--security-opt=no-new-privileges:true",
  "--publish=127.0.0.1::8003",
]

export type ContainerOptions = {
  image: "runtime" | "agent"
  /** For `docker run`. */
  options?: string[]
  /** For `serve`. */
  settings?: string[]
}

const State = z.object({
  Status: z.string(),
  Pid: z.int(),
  ExitCode: z.int(),
  OOMKilled: z.boolean(),
})

/** A service in a container, with a published port and a token of its own. */
export class Container implements AsyncDisposable {
  readonly engine: Engine
  readonly name: string
  readonly token: string
  readonly #folder: string

  private constructor(engine: Engine, name: string, folder: string) {
    this.engine = engine
    this.name = name
    this.#folder = folder
    this.token = readFileSync(join(folder, "token"), "utf8").trim()
  }

  /** Starts one and waits until it answers. */
  static async start(images: Images, wanted: ContainerOptions): Promise<Container> {
    const { engine } = images
    const image = images[wanted.image]
    const folder = mkdtempSync(join(tmpdir(), "cc-executor-container-"))
    const token = await engine.docker("run", "--rm", image, "token", "new")
    writeFileSync(join(folder, "token"), token, { mode: 0o644 })
    const name = `cc-executor-test-${crypto.randomUUID().slice(0, 8)}`
    const container = new Container(engine, name, folder)
    const secret = [
      `--volume=${folder}/token:/run/secrets/token:ro`,
      "--env=CC_EXECUTOR_ACCEPT_TOKEN_FILE=/run/secrets/token",
    ]
    const options = [`--name=${name}`, ...hardened, ...secret, ...(wanted.options ?? [])]
    await engine.docker("run", "--detach", ...options, image, "serve", ...(wanted.settings ?? []))
    await container.answers()
    return container
  }

  async answers(): Promise<void> {
    await until("the service in the container is ready", async () => {
      const { exitCode } = await this.exec("healthcheck")
      return exitCode === 0
    })
  }

  /** A command of the executable in it: all there is, in the smaller image. */
  exec(...args: string[]) {
    const program = "/usr/local/bin/cc-executor"
    return this.engine.run(["docker", "exec", this.name, program, ...args])
  }

  /** Where its port is published. */
  async url(path: string): Promise<string> {
    const address = await this.engine.docker("port", this.name, "8003/tcp")
    return `http://${address.split("\n")[0]}${path}`
  }

  async client(): Promise<Client> {
    return connect({ url: await this.url(""), token: this.token })
  }

  async state(): Promise<z.infer<typeof State>> {
    const text = await this.engine.docker("inspect", "--format={{json .State}}", this.name)
    return State.parse(JSON.parse(text))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.engine.run(["docker", "rm", "--force", "--volumes", this.name])
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
