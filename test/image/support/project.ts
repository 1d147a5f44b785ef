import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { z } from "zod"
import { root } from "../../../scripts/steps.ts"
import { type Client, connect } from "../../../src/client/connect.ts"
import { until } from "../../support/until.ts"
import type { Engine } from "./engine.ts"
import type { Images } from "./images.ts"

const Health = z.object({ Status: z.string() })

/** As compose.yaml names it. */
export const containerName = "cc_executor_mcp"

/** compose.yaml as it is, as a project of its own, on a free port. */
export class Project implements AsyncDisposable {
  readonly #engine: Engine
  readonly #folder: string
  readonly #name: string
  readonly #image: string
  readonly #files = ["compose.yaml"]

  private constructor({ engine, runtime }: Images, folder: string) {
    this.#engine = engine
    this.#folder = folder
    this.#name = `cc-executor-test-${crypto.randomUUID().slice(0, 8)}`
    this.#image = runtime
  }

  /** With nothing prepared. */
  static make(images: Images): Project {
    const folder = mkdtempSync(join(tmpdir(), "cc-executor-project-"))
    cpSync(join(root, "compose.yaml"), join(folder, "compose.yaml"))
    return new Project(images, folder)
  }

  /** With a token as a secret. */
  static async withSecret(images: Images): Promise<{ project: Project; token: string }> {
    const project = Project.make(images)
    const secretFile = "compose.secret.yaml"
    cpSync(join(root, secretFile), join(project.#folder, secretFile))
    project.#files.push(secretFile)
    const token = await project.newToken()
    project.put(token)
    return { project, token }
  }

  /** The token that the service has made. */
  madeToken(): Promise<string> {
    return this.#engine.docker("exec", containerName, "cc-executor", "token", "show")
  }

  /** What `docker logs` has: standard output and standard error. */
  async logs(): Promise<string> {
    const { stdout, stderr } = await this.#engine.run(["docker", "logs", containerName])
    return stdout + stderr
  }

  /** A token that nobody knows yet. */
  newToken(): Promise<string> {
    return this.#engine.docker("run", "--rm", this.#image, "token", "new")
  }

  /** Makes a token the secret, in the file that is there already. */
  put(token: string): void {
    writeFileSync(join(this.#folder, "token"), `${token}\n`, { mode: 0o644 })
  }

  compose(...args: string[]): Promise<string> {
    const files = this.#files.flatMap((file) => ["--file", file])
    const project = [...files, "--project-name", this.#name]
    return this.#engine.must(["docker", "compose", ...project, ...args], {
      cwd: this.#folder,
      env: { EXECUTOR_TOKEN_FILE: "./token", EXECUTOR_PUBLISH: "127.0.0.1:0" },
    })
  }

  /** As a newcomer does, and then looks until it is healthy. */
  async up(): Promise<void> {
    await this.compose("up", "--detach", "--no-build")
    await until("the container is healthy", async () => (await this.health()) === "healthy", 60_000)
  }

  async health(): Promise<string> {
    const state = await this.inspect("{{json .State.Health}}")
    return Health.parse(JSON.parse(state)).Status
  }

  async inspect(format: string): Promise<string> {
    const container = await this.compose("ps", "--quiet", "cc-executor")
    return this.#engine.docker("inspect", `--format=${format}`, container)
  }

  async url(path: string): Promise<string> {
    return `http://${await this.compose("port", "cc-executor", "8003")}${path}`
  }

  async client(token: string): Promise<Client> {
    return connect({ url: await this.url(""), token })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.compose("down", "--volumes")
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
