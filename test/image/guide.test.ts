import { afterAll, describe, expect } from "bun:test"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { root } from "../../scripts/steps.ts"
import { isErrno } from "../../src/lib/errno.ts"
import { guideBlocks } from "../support/guide-blocks.ts"
import { testUnless } from "../support/test-unless.ts"
import { checkOut } from "./support/checkout.ts"
import { images } from "./support/images.ts"
import { imageTimeoutMs, noImages } from "./support/switch.ts"

const text = readFileSync(join(root, "docs/containers.md"), "utf8")

/** Besides that every command succeeds: what must be in the output of a section's commands. */
const shown: Record<string, (RegExp | string)[]> = {
  "With Compose": [
    '{"executions":[]}',
    "127.0.0.1:8003->8003/tcp",
    '"showWith":"docker exec cc_executor_mcp cc-executor token show"',
  ],
  "The token": ['{"executions":[]}'],
  "Without Compose": ["containment      best-effort"],
  "Cgroups, and another user": [/ok +containment +cgroup/, "uid=65532(nonroot)"],
  "Coding agents": ["2.1.326 (Claude Code)", "at your service"],
}

/** Left by the guide where the engine stays. */
const leftovers = `
docker compose -f compose.yaml -f compose.agent.yaml down --volumes
docker rm --force --volumes executor contained
docker volume rm executor-state contained-state
`

describe("the guide to containers", () => {
  const folder = mkdtempSync(join(tmpdir(), "cc-executor-guide-"))
  let isBegun = false

  for (const { section, blocks } of guideBlocks(text, "test/image/guide.test.ts")) {
    testUnless(
      noImages ?? portTaken(),
      `does what it says: ${section}`,
      async () => {
        if (!isBegun) checkOut(folder)
        isBegun = true
        let said = ""
        for (const block of blocks) {
          if (block.kind === "file") put(join(folder, block.path), block.text)
          else said += await run(block.text)
        }

        for (const words of shown[section] ?? []) expect(said).toMatch(words)
      },
      imageTimeoutMs,
    )
  }

  afterAll(async () => {
    if (isBegun) {
      const { engine } = await images()
      await engine.run(["bash", "-c", leftovers], { cwd: folder })
    }
    rmSync(folder, { recursive: true })
  }, imageTimeoutMs)

  async function run(script: string): Promise<string> {
    const { engine } = await images()
    return engine.must(["bash", "-euxo", "pipefail", "-c", script], { cwd: folder })
  }
})

function put(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
}

/** The guide names the ports it publishes, and they are everybody's. */
function portTaken(): string | null {
  const taken = [8003, 8004, 8005].filter(isTaken)
  return taken.length === 0 ? null : `port ${taken.join(", ")} is taken`
}

function isTaken(port: number): boolean {
  try {
    Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } }).stop()
    return false
  } catch (error) {
    if (isErrno(error, "EADDRINUSE")) return true
    throw error
  }
}
