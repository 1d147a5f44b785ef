import { expect } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { testUnless } from "../support/test-unless.ts"

const root = join(import.meta.dir, "../..")
const missing = Bun.which("npm") === null ? "no npm" : null

// The other one of the two commands in README.md is what runs this test.
testUnless(
  missing,
  "`npm start` serves, and ends with its service when it is told to",
  async () => {
    using cleanup = new DisposableStack()
    const stateDir = mkdtempSync(join(tmpdir(), "cc-executor-test-"))
    cleanup.defer(() => rmSync(stateDir, { recursive: true }))
    const npm = Bun.spawn(["npm", "start", "--", "--port", "0", "--state-dir", stateDir], {
      cwd: root,
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
    })
    cleanup.defer(() => npm.kill("SIGKILL"))

    const url = await listeningOn(npm.stderr)
    const health = await fetch(`http://${new URL(url).host}/health`)
    expect(health.status).toBe(200)
    npm.kill("SIGTERM")

    expect(await npm.exited).toBe(0)
    expect(await fetch(health.url).catch(() => null)).toBeNull()
  },
  120_000,
)

async function listeningOn(output: ReadableStream<Uint8Array>): Promise<string> {
  let text = ""
  for await (const piece of output) {
    text += new TextDecoder().decode(piece)
    const url = /listening on (ws:\S+)/.exec(text)?.[1]
    if (url !== undefined) return url
  }
  throw new Error(`it ended: ${text}`)
}
