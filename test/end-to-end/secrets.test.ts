import { describe, expect, test } from "bun:test"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { allPids } from "../../src/service/os/proc.ts"
import { auditText } from "../support/audit-lines.ts"
import { filesWith } from "../support/files-with.ts"
import { RawSession } from "../support/raw-session.ts"
import { executable, Service } from "../support/service.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { bearing, makeToken } from "../support/tokens.ts"

const timeoutMs = 60_000

/** What stands in the command lines of all processes, as `ps` shows them to everybody. */
function everyCommandLine(): string {
  return allPids().map(readCommandLine).join("\n")
}

function readCommandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1")
  } catch {
    return "" // it has ended meanwhile
  }
}

describe("a secret", () => {
  test(
    "is in no log, no audit line, no receipt, no file and no command line afterwards",
    async () => {
      using folder = temporaryFolder()
      const patterns = join(folder.path, "patterns")
      writeFileSync(patterns, "key = planted-output-[0-9a-f]{8}\n")
      const flags = { "log-level": "trace", "redact-file": patterns }
      await using service = await Service.start({ flags })
      const { stateDir } = service
      const token = await makeToken(stateDir, { name: "secretive" })
      const secret = token.slice(token.lastIndexOf("_") + 1)
      const planted = {
        token: secret,
        wrong: "cce_planted-wrong-token",
        basic: btoa("planted-user:planted-password"),
        cookie: "planted-cookie-value",
        environment: "planted-environment-value",
        input: "planted-input-value",
        output: "planted-output-0123abcd",
        query: "planted-query-value",
      }

      // Over HTTP: right and wrong, allowed and refused, with all of it at once.
      const http = await service.url("/executions")
      const everything = { Cookie: planted.cookie, "Content-Type": "application/json" }
      for (const Authorization of [
        `Bearer ${token}`,
        `Bearer ${planted.wrong}`,
        `Basic ${planted.basic}`,
      ]) {
        for (const body of [
          { argv: ["true"], env: { SECRET: planted.environment } },
          { argv: ["nowhere"], env: { SECRET: planted.environment } },
          { argv: ["true"], env: { SECRET: [planted.environment] } },
        ]) {
          await fetch(`${http}?secret=${planted.query}`, {
            method: "POST",
            headers: { ...everything, Authorization },
            body: JSON.stringify(body),
          })
        }
      }

      // Over a WebSocket, with a ticket of its own.
      const asked = await fetch(await service.url("/tickets"), {
        method: "POST",
        ...bearing(token),
      })
      const { ticket } = JSON.parse(await asked.text())
      using session = await RawSession.open(`${await service.url()}?ticket=${ticket}`)
      const again = new RawSession(`${await service.url()}?ticket=${ticket}`)
      await again.closed
      const { execution_id: id } = await session.call("execute", {
        command: `read line; echo ${planted.output}; echo $((6*7))`,
        stdin: "pipe",
        env: { SECRET: planted.environment },
      })
      await session.call("input", { execution_id: id, data: `${planted.input}\n` })
      await session.heard("process.completed", id)
      await session.refused("execute", { argv: ["nowhere"], env: { SECRET: planted.environment } })

      // By the command line, from the environment and from a file.
      const file = join(folder.path, "token")
      writeFileSync(file, token, { mode: 0o600 })
      const url = await service.url()
      const remote = Bun.spawn([executable, "run", "--url", url, "--", "sh", "-c", "sleep 0.3"], {
        env: { ...process.env, CC_EXECUTOR_TOKEN: token },
        stdio: ["ignore", "ignore", "ignore"],
      })
      const byFile = Bun.spawn([executable, "ps", "--url", url, "--token-file", file], {
        stdio: ["ignore", "ignore", "ignore"],
      })
      const seen = everyCommandLine()
      expect(await Promise.all([remote.exited, byFile.exited])).toEqual([0, 0])

      const receipt = JSON.stringify(await session.call("receipt", { execution_id: id }))
      service.kill("SIGTERM")
      await service.exited

      const secrets = [...Object.values(planted), ticket]
      expect(filesWith(stateDir, ...secrets)).toEqual([])
      const said = [...service.log, ...service.said, auditText(stateDir), seen].join("\n")
      const decoded = Buffer.from(JSON.parse(receipt).payload, "base64").toString()
      for (const one of secrets) {
        expect([one, said.includes(one)]).toEqual([one, false])
        expect([one, decoded.includes(one)]).toEqual([one, false])
      }
      expect(decoded).toContain("SECRET")
      expect(auditText(stateDir)).toContain("UNAUTHORIZED")
    },
    timeoutMs,
  )
})
