import { describe, expect, test } from "bun:test"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { RawSession } from "../support/raw-session.ts"
import { Service } from "../support/service.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"

const timeoutMs = 60_000
const expired = { code: -32010, data: { reason: "EXPIRED" } }

describe("an ended execution that is older than is kept", () => {
  test(
    "has lost its transcript, and kept its record and its receipt",
    async () => {
      using folder = temporaryFolder()
      const stateDir = folder.path
      const [execution_id = ""] = await runEach(stateDir, ["echo kept for a while"])

      await using service = await Service.start({ stateDir, flags: { "retain-age": "0s" } })
      using session = await RawSession.open(await service.url())

      const status = await session.call("status", { execution_id })
      expect(status).toMatchObject({ state: "ended", bytes: { stdout: 17 } })
      expect(status.ending).toMatchObject({ outcome: "exited", exit_code: 0 })
      await session.call("receipt", { execution_id })
      expect(await session.refused("transcript.read", { execution_id })).toMatchObject(expired)
      expect(await session.refused("transcript.verify", { execution_id })).toMatchObject(expired)
      await session.call("attach", { execution_id })
      const { error } = await session.heard("process.error", execution_id)
      expect(error).toMatchObject(expired)
      const url = await service.url(`/executions/${execution_id}/output`)
      expect((await fetch(url)).status).toBe(410)
      expect(existsSync(transcriptPath(stateDir, execution_id))).toBe(false)
    },
    timeoutMs,
  )

  test(
    "is followed by nothing, when it had no output at all",
    async () => {
      using folder = temporaryFolder()
      const stateDir = folder.path
      const [execution_id = ""] = await runEach(stateDir, ["true"])

      await using service = await Service.start({ stateDir, flags: { "retain-age": "0s" } })
      using session = await RawSession.open(await service.url())

      const read = await session.call("transcript.read", { execution_id })
      expect(read).toMatchObject({ chunks: [], ended: true })
      const verdict = await session.call("transcript.verify", { execution_id })
      expect(verdict).toEqual({ verified: true, chain: "intact" })
    },
    timeoutMs,
  )
})

describe("more transcripts than there is room for", () => {
  test(
    "lose the oldest first",
    async () => {
      using folder = temporaryFolder()
      const stateDir = folder.path
      const hundredKilobytes = "head -c 100000 /dev/zero"
      const [oldest = "", newer = "", newest = ""] = await runEach(stateDir, [
        hundredKilobytes,
        hundredKilobytes,
        hundredKilobytes,
      ])

      await using service = await Service.start({ stateDir, flags: { "retain-bytes": "250k" } })
      using session = await RawSession.open(await service.url())

      const gone = await session.refused("transcript.read", { execution_id: oldest })
      expect(gone).toMatchObject(expired)
      for (const execution_id of [newer, newest]) {
        const verdict = await session.call("transcript.verify", { execution_id })
        expect(verdict).toEqual({ verified: true, chain: "intact" })
      }
    },
    timeoutMs,
  )
})

describe("an execution that is removed", () => {
  test(
    "is found by nobody any more, and its files are gone",
    async () => {
      await using service = await Service.start()
      using session = await RawSession.open(await service.url())
      const { id: execution_id } = await session.run({ command: "echo hi", idempotency_key: "k" })
      const files = transcriptPath(service.stateDir, execution_id)
      expect(existsSync(files)).toBe(true)

      await session.call("remove", { execution_id })

      expect(existsSync(files)).toBe(false)
      expect((await session.call("list", {})).executions).toEqual([])
      for (const method of ["status", "receipt", "attach", "transcript.read", "remove"]) {
        const error = await session.refused(method, { execution_id })
        expect(error).toMatchObject({ code: -32003, data: { reason: "PROCESS_NOT_FOUND" } })
      }
      const repeat = { command: "echo hi", idempotency_key: "k" }
      expect(await session.refused("execute", repeat)).toMatchObject(expired)
    },
    timeoutMs,
  )
})

/** A service that runs each command and ends; answers the executions' ids. */
async function runEach(stateDir: string, commands: string[]): Promise<string[]> {
  await using service = await Service.start({ stateDir })
  using session = await RawSession.open(await service.url())
  const ids: string[] = []
  for (const command of commands) ids.push((await session.run({ command })).id)
  return ids
}

function transcriptPath(stateDir: string, executionId: string): string {
  return join(stateDir, "transcripts", executionId)
}
