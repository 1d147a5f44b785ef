import { describe, expect } from "bun:test"
import { readFileSync } from "node:fs"
import { version } from "../../package.json"
import { testUnless } from "../support/test-unless.ts"
import { Container } from "./support/container.ts"
import { images } from "./support/images.ts"
import { imageTimeoutMs, noImages } from "./support/switch.ts"

describe("a container that may do nothing", () => {
  testUnless(
    noImages,
    "serves: as nobody, without a capability, on a root that cannot be written",
    async () => {
      await using container = await Container.start(await images(), { image: "runtime" })
      await using client = await container.client()

      const greeting = await client.connected
      const { Pid: pid } = await container.state()

      expect(greeting.version).toBe(version)
      const status = readFileSync(`/proc/${pid}/status`, "latin1")
      expect(status).toMatch(/^Uid:\s+65532\s+65532\s+65532\s+65532$/m)
      expect(status).toMatch(/^CapPrm:\s+0+$/m)
      expect(status).toMatch(/^CapBnd:\s+0+$/m)
      expect(status).toMatch(/^NoNewPrivs:\s+1$/m)
      const mounts = readFileSync(`/proc/${pid}/mounts`, "utf8")
      expect(mounts).toMatch(/^\S+ \/ overlay ro,/m)
    },
    imageTimeoutMs,
  )

  testUnless(
    noImages,
    "has a doctor that names best-effort containment, and finds nothing that is broken",
    async () => {
      await using container = await Container.start(await images(), { image: "runtime" })

      const { exitCode, stdout } = await container.exec("doctor")

      expect(stdout).toMatch(/^warn +containment +best-effort: /m)
      expect(stdout).toMatch(/^ok +service +running: pid 1,/m)
      expect(exitCode).toBe(0)
    },
    imageTimeoutMs,
  )

  testUnless(
    noImages,
    "lets in whoever has the token, by the published port, and nobody else",
    async () => {
      await using container = await Container.start(await images(), { image: "runtime" })
      const url = await container.url("/executions")

      const without = await fetch(url)
      const wrong = await fetch(url, { headers: { Authorization: "Bearer cce_wrong" } })
      const right = await fetch(url, { headers: { Authorization: `Bearer ${container.token}` } })

      expect([without.status, wrong.status, right.status]).toEqual([401, 401, 200])
    },
    imageTimeoutMs,
  )

  testUnless(
    noImages,
    "logs one JSON object a line on standard output, and no token",
    async () => {
      await using container = await Container.start(await images(), { image: "runtime" })
      await using client = await container.client()
      const execution = await client.execute({ argv: ["/usr/local/bin/cc-executor", "version"] })
      await execution.ended
      const { engine, name, token } = container

      const { stdout, stderr } = await engine.run(["docker", "logs", name])

      const lines: unknown[] = stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line))
      expect(lines).toContainEqual(expect.objectContaining({ msg: "service ready", port: 8003 }))
      expect(lines).toContainEqual(expect.objectContaining({ msg: "execution ended" }))
      expect(stderr).toContain("listening on ws://0.0.0.0:8003/ws/mcp")
      expect(stdout + stderr).not.toContain(token.slice(-30))
    },
    imageTimeoutMs,
  )
})
