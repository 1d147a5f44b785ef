import { createHmac } from "node:crypto"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { z } from "zod"
import { temporaryFolder } from "./temporary-folder.ts"
import { until } from "./until.ts"

/** Long enough to sign with. */
export const webhookSecret = "a-dummy-secret-for-webhooks"

const Body = z.looseObject({
  id: z.string(),
  event: z.string(),
  title: z.string(),
  text: z.string(),
  link: z.string().nullable(),
  name: z.string().nullable(),
})

export type Received = {
  path: string
  headers: Record<string, string>
  text: string
  body: z.infer<typeof Body>
}

type Respond = (received: Received, count: number) => Response | Promise<Response>

/** A real server that is told of things, and answers as a test wants it to. */
export class NotificationReceiver implements Disposable {
  readonly all: Received[] = []
  readonly #respond: Respond
  readonly port: number
  #server: Bun.Server<undefined>

  constructor(respond: Respond = () => new Response("taken")) {
    this.#respond = respond
    this.#server = this.#serve(0)
    this.port = this.#server.port ?? 0
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`
  }

  /** Nobody answers at its port any more. */
  async goDown(): Promise<void> {
    await this.#server.stop(true)
  }

  comeBack(): void {
    this.#server = this.#serve(this.port)
  }

  /** Those of one event, or of all. */
  of(event?: string): Received[] {
    return event === undefined ? this.all : this.all.filter(({ body }) => body.event === event)
  }

  names(): Array<string | null> {
    return this.all.map(({ body }) => body.name)
  }

  async whenGot(count: number, event?: string): Promise<Received[]> {
    const what = `${count} messages ${event ?? ""}`
    return until(what, () => this.of(event).length >= count && this.of(event))
  }

  [Symbol.dispose](): void {
    void this.#server.stop(true)
  }

  #serve(port: number): Bun.Server<undefined> {
    return Bun.serve({
      port,
      hostname: "127.0.0.1",
      idleTimeout: 0,
      fetch: async (request) => {
        const text = await request.text()
        const parsed = Body.safeParse(JSON.parse(text))
        const headers = Object.fromEntries(request.headers)
        const body = parsed.data ?? {
          id: "",
          event: "",
          title: "",
          text: "",
          link: null,
          name: null,
        }
        const received = { path: new URL(request.url).pathname, headers, text, body }
        this.all.push(received)
        return this.#respond(received, this.all.length)
      },
    })
  }
}

/** Whether a message was signed with the secret, over its time and all of its body. */
export function isSigned({ headers, text }: Received): boolean {
  const timestamp = headers["x-cc-executor-timestamp"] ?? ""
  const isNow = Math.abs(Number(timestamp) - Date.now() / 1000) < 300
  const hmac = createHmac("sha256", webhookSecret).update(`${timestamp}.${text}`).digest("hex")
  return isNow && headers["x-cc-executor-signature"] === `sha256=${hmac}`
}

/** A directory with targets and their secrets, for `--notify-file`. */
export class TargetsFile implements Disposable {
  readonly #folder = temporaryFolder()

  constructor(targets: Record<string, Record<string, string>>, top: Record<string, string> = {}) {
    writeFileSync(this.secretFile, `${webhookSecret}\n`)
    const lines = Object.entries(targets).flatMap(([name, keys]) => [
      `  ${name}:`,
      ...(keys["kind"] === "webhook" ? [`    secret_file: ${this.secretFile}`] : []),
      ...Object.entries(keys).map(([key, value]) => `    ${key}: ${value}`),
    ])
    const tops = Object.entries(top).map(([key, value]) => `${key}: ${value}`)
    writeFileSync(this.path, `${[...tops, "targets:", ...lines].join("\n")}\n`)
  }

  /** A webhook that is told of everything, and that everybody may name. */
  static webhook(url: string, more: Record<string, string> = {}): TargetsFile {
    return new TargetsFile({ hook: TargetsFile.hook(url, more) })
  }

  static hook(url: string, more: Record<string, string> = {}): Record<string, string> {
    return { kind: "webhook", url, sent: "always", used_by: "everybody", ...more }
  }

  get path(): string {
    return join(this.#folder.path, "notify.yaml")
  }

  get secretFile(): string {
    return join(this.#folder.path, "secret")
  }

  /** The flags of a service that is to know them. */
  get flags(): Record<string, string> {
    return { "notify-file": this.path }
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]()
  }
}
