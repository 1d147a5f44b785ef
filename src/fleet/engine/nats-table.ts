import { JetStreamApiError } from "@nats-io/jetstream"
import type { KV, KvWatchEntry } from "@nats-io/kv"
import type { z } from "zod"
import { fail, ok, type Result } from "../../lib/result.ts"
import type { Change, EngineFailure, Stored, Table } from "../engine-port.ts"

/** During elections the engine refuses for a moment what it will take after it. */
const electionTries = 3
const electionPauseMs = 250

/** A key-value bucket whose values are JSON of one schema. */
export class NatsTable<Value> implements Table<Value> {
  readonly #bucket: KV
  readonly #schema: z.ZodType<Value>

  constructor(bucket: KV, schema: z.ZodType<Value>) {
    this.#bucket = bucket
    this.#schema = schema
  }

  get(key: string): Promise<Result<Stored<Value> | null, EngineFailure>> {
    return asking(async () => {
      const entry = await this.#bucket.get(key)
      if (entry === null || entry.operation !== "PUT") return null
      const value = this.#read(entry.value)
      return value === null ? null : { value, revision: entry.revision }
    })
  }

  create(key: string, value: Value) {
    return asking(() => this.#bucket.create(key, JSON.stringify(value)))
  }

  replace(key: string, value: Value, revision: number) {
    return asking(() => this.#bucket.update(key, JSON.stringify(value), revision))
  }

  put(key: string, value: Value) {
    return asking(() => this.#bucket.put(key, JSON.stringify(value)))
  }

  remove(key: string): Promise<Result<null, EngineFailure>> {
    return asking(async () => {
      await this.#bucket.purge(key)
      return null
    })
  }

  /** Resolves when it is aborted, and rejects when the engine ends it. */
  async watch(
    changed: (change: Change<Value>) => void,
    complete: () => void,
    aborted: AbortSignal,
  ): Promise<void> {
    const entries = await this.#bucket.watch()
    using stopping = new DisposableStack()
    const stop = () => entries.stop()
    stopping.defer(stop)
    aborted.addEventListener("abort", stop, { once: true })
    stopping.defer(() => aborted.removeEventListener("abort", stop))
    if (aborted.aborted) stop()
    let isComplete = (await this.#bucket.status()).values === 0
    if (isComplete) complete()
    for await (const entry of entries) {
      changed(this.#changeOf(entry))
      if (isComplete || !entry.isUpdate) continue // of the last of those that were there, it is set
      isComplete = true
      complete()
    }
    if (!aborted.aborted) throw new Error("the engine has ended a watch")
  }

  async replicas(): Promise<number> {
    return (await this.#bucket.status()).replicas
  }

  #changeOf(entry: KvWatchEntry): Change<Value> {
    const { key, revision } = entry
    return { key, revision, value: entry.operation === "PUT" ? this.#read(entry.value) : null }
  }

  /** Null for what no program of this version has written: it is as if it were not there. */
  #read(bytes: Uint8Array): Value | null {
    try {
      return this.#schema.safeParse(JSON.parse(new TextDecoder().decode(bytes))).data ?? null
    } catch (error) {
      if (error instanceof SyntaxError) return null
      throw error
    }
  }
}

/** Asks again while an election is on: what it refuses then was not done. */
async function asking<Value>(ask: () => Promise<Value>): Promise<Result<Value, EngineFailure>> {
  for (let tries = 1; ; tries += 1) {
    try {
      return ok(await ask())
    } catch (error) {
      if (!(error instanceof Error)) throw error
      if (isConflict(error)) return fail({ kind: "conflict" })
      if (tries >= electionTries || !refusedInElections.has(error.name)) {
        return fail({ kind: "unavailable", why: `${error.name}: ${error.message}` })
      }
      await Bun.sleep(electionPauseMs)
    }
  }
}

const refusedInElections: ReadonlySet<string> = new Set([
  "JetStreamNotEnabled",
  "NoRespondersError",
])

/** `wrong last sequence`, and the same where the server does not say which one it has. */
const conflictCodes: ReadonlySet<number> = new Set([10071, 10164])

function isConflict(error: Error): boolean {
  return error instanceof JetStreamApiError && conflictCodes.has(error.code)
}
