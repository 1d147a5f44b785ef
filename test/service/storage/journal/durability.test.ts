import { describe, expect, test } from "bun:test"
import assert from "node:assert/strict"
import { hasEnded } from "../../../../src/execution/record.ts"
import { type ExecutionState, transition } from "../../../../src/execution/state.ts"
import { openJournal } from "../../../../src/service/storage/journal/journal.ts"
import { openJournalReader } from "../../../../src/service/storage/journal/journal-reader.ts"
import { verifyReceipt } from "../../../../src/service/storage/journal/receipt-signing.ts"
import {
  loadOrCreateSigningKey,
  publicKeyPem,
} from "../../../../src/service/storage/journal/signing-key.ts"
import { statePathsIn } from "../../../../src/service/storage/state-paths.ts"
import {
  eventsById,
  listed,
  rawRows,
  stillClock,
  succeeded,
  temporaryDirectory,
} from "./temporary-journal.ts"

const fixture = Bun.fileURLToPath(import.meta.resolve("./fixtures/write-until-killed.ts"))
const rounds = 6

describe("a writer that is killed at any moment", () => {
  test("loses nothing it had written, and leaves nothing half", async () => {
    using directory = temporaryDirectory()
    const promised = new Map<string, number>()

    for (let round = 0; round < rounds; round += 1) {
      await using writer = startWriter(directory.path)
      const lines = 1 + Math.floor(Math.random() * 1_000)
      for (const { id, events } of await writer.killedAfter(lines)) promised.set(id, events)
      expectConsistent(directory.path, promised)
    }
  }, 60_000)
})

describe("a reader in another process than the writer", () => {
  test("sees only whole writes, at once, and never waits", async () => {
    using directory = temporaryDirectory()
    await using writer = startWriter(directory.path)
    const first = await writer.nextLine()
    using reader = succeeded(openJournalReader(statePathsIn(directory.path).journal))
    expect(reader.find(first.id)).not.toBeNull()

    for (let seen = 0; seen < 300; seen += 1) {
      const { id, events } = await writer.nextLine()
      const record = reader.find(id)
      assert(record !== null)
      expect(stateAfter(events)).toContain(record.state.kind)
      if (hasEnded(record)) expect(reader.receipt(id)).not.toBeNull()
      expect(listed(reader, { limit: 5 }).records).not.toBeEmpty()
      expect(listed(reader, { limit: 5, state: "ended" }).records.every(hasEnded)).toBe(true)
    }
  }, 60_000)
})

/** The writer goes on while we look, so it may be further than its line said. */
function stateAfter(events: number): string[] {
  return ["queued", "starting", "running", "draining", "ended"].slice(events)
}

function expectConsistent(stateDirectory: string, promised: ReadonlyMap<string, number>): void {
  const path = statePathsIn(stateDirectory).journal
  using journal = succeeded(openJournal(path, stillClock()))
  using reader = succeeded(openJournalReader(path))
  const publicKey = publicKeyPem(succeeded(loadOrCreateSigningKey(stateDirectory)))
  const allEvents = eventsById(path)
  const unfinished = new Set(journal.unfinished().map(({ id }) => id))
  expect(rawRows(path, "PRAGMA integrity_check")).toEqual([{ integrity_check: "ok" }])
  expect(rawRows(path, "PRAGMA foreign_key_check")).toEqual([])

  for (const [id, events] of promised) {
    const record = journal.find(id)
    assert(record !== null, `execution ${id} is lost`)
    const journaled = allEvents.get(id) ?? []
    expect(journaled.length).toBeGreaterThanOrEqual(events)
    expect(record.state).toEqual(journaled.reduce(transition, queuedState))

    const receipt = reader.receipt(id)
    expect(receipt !== null).toBe(hasEnded(record))
    expect(unfinished.has(id)).toBe(!hasEnded(record))
    if (receipt !== null) expect(verifyReceipt(receipt, publicKey, null).kind).toBe("valid")
    expect(journal.findByKey("alice", id)?.record).toEqual(record)
  }
}

const queuedState: ExecutionState = { kind: "queued" }

type Line = { id: string; events: number }

function startWriter(stateDirectory: string) {
  const child = Bun.spawn(
    [process.execPath, fixture, stateDirectory, statePathsIn(stateDirectory).journal],
    { stdout: "pipe", stderr: "inherit" },
  )
  const lines = linesOf(child.stdout)

  return {
    async nextLine(): Promise<Line> {
      const { value } = await lines.next()
      assert(value !== undefined, "the writer ended by itself")
      return value
    },
    /** What it had said until it was dead, which is more than what we waited for. */
    async killedAfter(count: number): Promise<Line[]> {
      const said: Line[] = []
      while (said.length < count) said.push(await this.nextLine())
      child.kill("SIGKILL")
      for await (const line of lines) said.push(line)
      return said
    },
    async [Symbol.asyncDispose](): Promise<void> {
      child.kill("SIGKILL")
      await child.exited
    },
  }
}

async function* linesOf(output: ReadableStream<Uint8Array>): AsyncGenerator<Line, undefined> {
  let rest = ""
  const decoder = new TextDecoder()
  for await (const chunk of output) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n")
    rest = lines.pop() ?? "" // a line that breaks off was not said
    for (const line of lines) {
      const [id = "", events = ""] = line.split(" ")
      yield { id, events: Number(events) }
    }
  }
  return undefined
}
