import { createHash } from "node:crypto"

/** What a mirror has: contents by name, or what becomes of a request. */
export type Files = Record<string, string | Blob | { breaks: "cut" | "stall" }>

/** A folder of release files over HTTP, on loopback. */
export class ReleaseServer implements AsyncDisposable {
  readonly #server: Bun.Server<undefined>
  /** The names that were asked for. */
  readonly asked: string[] = []

  constructor(files: Files) {
    this.#server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      development: false,
      fetch: (request) => {
        const name = new URL(request.url).pathname.replace(/^.*\//, "")
        this.asked.push(name)
        const file = files[name]
        if (file === undefined) return new Response("no such file", { status: 404 })
        if (typeof file === "string" || file instanceof Blob) return new Response(file)
        return new Response(partOf(file.breaks))
      },
    })
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}/v1`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true)
  }
}

/** The beginning of a file; then the connection breaks, or nothing more comes. */
function partOf(end: "cut" | "stall"): ReadableStream<Uint8Array> {
  let begun = false
  return new ReadableStream({
    pull(controller) {
      if (!begun) controller.enqueue(new TextEncoder().encode("#!/bin/sh\necho cc-"))
      else if (end === "cut") controller.error(new Error("cut"))
      else return new Promise<void>(() => undefined)
      begun = true
      return undefined
    },
  })
}

export function checksumLine(name: string, content: string): string {
  return `${createHash("sha256").update(content).digest("hex")}  ${name}\n`
}
