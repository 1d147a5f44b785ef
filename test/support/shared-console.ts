import { afterAll, beforeAll } from "bun:test"
import { z } from "zod"
import { noBrowser } from "./browser.ts"
import { Chromium, type ConsolePage, type Screen } from "./console-page.ts"
import { Service, type ServiceOptions } from "./service.ts"
import { bearing } from "./tokens.ts"

const Started = z.object({ execution_id: z.string() })

/** A service and a browser beside it, for all tests of a file. */
export class SharedConsole implements AsyncDisposable {
  readonly service: Service
  /** Of the page. */
  readonly url: string
  readonly #browser: Chromium | null

  private constructor(service: Service, url: string, browser: Chromium | null) {
    this.service = service
    this.url = url
    this.#browser = browser
  }

  static async start(options: ServiceOptions): Promise<SharedConsole> {
    const service = await Service.start(options)
    const browser = noBrowser === null ? await Chromium.start() : null
    return new SharedConsole(service, await service.url("/"), browser)
  }

  get browser(): Chromium {
    if (this.#browser === null) throw new Error(`there is no browser: ${noBrowser}`)
    return this.#browser
  }

  /** Opens the console, at a place in it (`#/start`), as a person would. */
  open(place = "", screen?: Screen): Promise<ConsolePage> {
    return this.browser.open(`${this.url}${place}`, screen)
  }

  /** Starts an execution from elsewhere, and answers its id. */
  start(body: object, token?: string): Promise<string> {
    return startExecution(this.url, body, token)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser?.[Symbol.asyncDispose]()
    await this.service[Symbol.asyncDispose]()
  }
}

export function sharedConsole(options: ServiceOptions = {}): () => SharedConsole {
  let shared: SharedConsole | null = null

  beforeAll(async () => {
    shared = await SharedConsole.start(options)
  })

  afterAll(async () => {
    await shared?.[Symbol.asyncDispose]()
  })

  return () => {
    if (shared === null) throw new Error("the console has not been started")
    return shared
  }
}

export async function startExecution(url: string, body: object, token?: string): Promise<string> {
  const shown = token === undefined ? {} : bearing(token).headers
  const headers = { ...shown, "Content-Type": "application/json" }
  const sent = { method: "POST", headers, body: JSON.stringify(body) }
  const answer = await fetch(new URL("/executions", url), sent)
  return Started.parse(await answer.json()).execution_id
}
