import { describe, expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { z } from "zod"
import { verifyAudit } from "../../src/service/audit/verify-audit.ts"
import { admitted } from "../support/admitted.ts"
import {
  auditAttempts,
  auditDirectory,
  auditEntries,
  auditText,
  refusalCount,
} from "../support/audit-lines.ts"
import { RawSession } from "../support/raw-session.ts"
import { sampleId } from "../support/sample-record.ts"
import { byScale } from "../support/scale.ts"
import { Service } from "../support/service.ts"
import { SmallDisk } from "../support/small-disk.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { notRoot, testUnless } from "../support/test-unless.ts"
import { until } from "../support/until.ts"

const flags = { "allowed-commands": "echo,sleep,cat" }

describe("a flood of refusals", () => {
  test("leaves few lines, whose counts add up", async () => {
    const hasty = { ...flags, "messages-per-second": "1000000" }
    await using service = await Service.start({ flags: hasty })
    using client = await admitted(service)
    const { session } = client
    const rounds = byScale({ short: 10, full: 50, long: 50 })
    const flood = async (method: string, params: object) => {
      for (let round = 0; round < rounds; round += 1) {
        const ids = Array.from({ length: 100 }, () => session.request(method, params))
        for (const id of ids) await session.refusalOf(id)
      }
    }

    await flood("status", { execution_id: sampleId(3) })
    await flood("execute", { argv: ["id"] })
    service.kill("SIGTERM")
    await service.exited

    expect(refusalCount(service.stateDir, "PROCESS_NOT_FOUND")).toBe(rounds * 100)
    expect(refusalCount(service.stateDir, "SECURITY_DENIED")).toBe(rounds * 100)
    expect(auditAttempts(service.stateDir).length).toBeLessThan(100)
    expect(verifyAudit(auditDirectory(service.stateDir)).verified).toBe(true)
  }, 60_000)
})

describe("a secret", () => {
  test("of a request's environment, headers or input is in no line", async () => {
    await using service = await Service.start({ flags })
    using client = await admitted(service)
    const { session } = client
    const secret = "planted-7f3a9c"
    const env = { TOKEN: secret, PATH: `/${secret}/bin` }
    const headers = { Authorization: `Bearer ${secret}`, "Content-Type": "application/json" }

    await session.refused("execute", { argv: ["echo"], env })
    await session.refused("execute", { argv: ["nowhere"], env: { TOKEN: secret } })
    await session.refused("execute", { argv: ["echo"], env: { TOKEN: [secret] } })
    const { execution_id } = await session.call("execute", {
      argv: ["cat"],
      stdin: "pipe",
      env: { TZ: secret },
    })
    await session.call("input", { execution_id, data: secret, end: true })
    await session.heard("process.completed", execution_id)
    for (const path of ["/executions", "/nowhere", `/executions?token=${secret}`]) {
      const body = JSON.stringify({ argv: ["id"], env })
      await fetch(await service.url(path), { method: "POST", headers, body })
    }
    service.kill("SIGTERM")
    await service.exited

    expect(auditAttempts(service.stateDir).length).toBeGreaterThan(5)
    expect(auditText(service.stateDir)).not.toContain(secret)
  })

  test("in the PATH in which nothing was found is in no line", async () => {
    await using service = await Service.start()
    using session = await RawSession.open(await service.url())
    const env = { PATH: "/planted-7f3a9c/bin" }

    const { message } = await session.refused("execute", { argv: ["nowhere"], env })

    expect(message).toContain("planted-7f3a9c")
    expect(refusalCount(service.stateDir, "SPAWN_FAILED")).toBe(1)
    expect(auditText(service.stateDir)).not.toContain("planted-7f3a9c")
  })
})

describe("a service that is killed in the middle of it all", () => {
  test("has a line for every attempt it answered, and goes on with the chain", async () => {
    using folder = temporaryFolder()
    const stateDir = folder.path
    const answered = new Set<string>()
    {
      await using service = await Service.start({ stateDir, flags })
      using client = await admitted(service)
      const { session } = client
      const ids = Array.from({ length: 100 }, (_, nth) => {
        const command = nth % 2 === 0 ? "sleep 1000" : "id"
        return { command, id: session.request("execute", { command, labels: { nth: `${nth}` } }) }
      })
      for (const { id } of ids) {
        const answer = await session.response(id).catch(() => null)
        if (answer === null) break
        if ("result" in answer) answered.add(executionIn(answer.result))
        if (answered.size === 20) service.kill("SIGKILL")
      }
      await service.exited
    }
    const killed = verifyAudit(auditDirectory(stateDir))
    await using again = await Service.start({ stateDir, flags })

    expect(killed.verified).toBe(true)
    const verdict = verifyAudit(auditDirectory(again.stateDir))
    expect(verdict).toMatchObject({ verified: true, from: 1, unfinishedBytes: 0 })
    const entries = auditEntries(stateDir)
    const isRecovered = entries.some(({ event }) => event === "recovered")
    expect(isRecovered).toBe(killed.unfinishedBytes > 0)
    const allowed = new Set(auditAttempts(stateDir).map((attempt) => attempt.execution_id))
    const lost = entries.flatMap((entry) =>
      entry.event === "execution-ended" && entry.what.kind === "lost" ? [entry.execution_id] : [],
    )
    for (const id of answered) {
      expect(allowed.has(id)).toBe(true)
      expect(lost).toContain(id)
    }
    expect(entries.at(-1)).toMatchObject({ event: "service-started", what: { lost: lost.length } })
  }, 60_000)
})

describe("an audit trail that outgrows its files", () => {
  test("is kept from where it says, and verifies while it is written", async () => {
    const small = { ...flags, "audit-file-size": "64k", "audit-files": "2" }
    await using service = await Service.start({ flags: small })
    using client = await admitted(service)
    const { session } = client
    const directory = auditDirectory(service.stateDir)
    const argument = "x".repeat(4000)

    await until("the first file is gone", async () => {
      const ids = Array.from({ length: 20 }, (_, nth) =>
        session.request("execute", { argv: ["id", `${nth}`, argument] }),
      )
      for (const id of ids) await session.refusalOf(id)
      expect(verifyAudit(directory)).toMatchObject({ verified: true })
      return !readdirSync(directory).includes("00000001.jsonl")
    })

    expect(readdirSync(directory)).toHaveLength(2)
    const { from } = verifyAudit(directory)
    const [first] = auditEntries(service.stateDir)
    expect(first).toMatchObject({ number: from, event: "file-began" })
    expect(from).toBeGreaterThan(1)
  })
})

describe("a full disk", () => {
  testUnless(notRoot, "keeps nobody from an answer, and the lost lines are told", async () => {
    using disk = new SmallDisk("8m")
    const stateDir = disk.path
    const plenty = { ...flags, "disk-floor": "0", ballast: "256k" }
    await using service = await Service.start({ stateDir, flags: plenty })
    using client = await admitted(service)
    const { session } = client
    await session.refused("execute", { argv: ["id", "before"] })
    disk.fill()
    let sent = 1
    await until("the log says that lines are lost", async () => {
      sent += 1
      const { data } = await session.refused("execute", { argv: ["id", `full-${sent}`] })
      expect(data.reason).toBe("SECURITY_DENIED")
      return service.log.some((line) => line.includes("audit lines cannot be written"))
    })

    disk.empty()
    await session.refused("execute", { argv: ["id", "after"] })

    const entries = auditEntries(stateDir)
    const lost = entries.flatMap((entry) => (entry.event === "lines-lost" ? [entry.count] : []))
    expect(lost).toHaveLength(1)
    expect(refusalCount(stateDir, "SECURITY_DENIED") + (lost[0] ?? 0)).toBe(sent + 1)
    expect(verifyAudit(auditDirectory(stateDir)).verified).toBe(true)
    expect(readFileSync(join(stateDir, "audit", "00000001.jsonl"), "utf8")).toEndWith('"}\n')
  })
})

const Started = z.object({ execution_id: z.string() })

function executionIn(result: unknown): string {
  return Started.parse(result).execution_id
}
