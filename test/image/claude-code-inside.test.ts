import { describe, expect } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../../scripts/steps.ts"
import { Terminal } from "../cli/terminal/terminal.ts"
import { guideBlocks } from "../support/guide-blocks.ts"
import { MessagesApi } from "../support/messages-api.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { testUnless } from "../support/test-unless.ts"
import { checkOut } from "./support/checkout.ts"
import type { Engine } from "./support/engine.ts"
import { images } from "./support/images.ts"
import { containerName } from "./support/project.ts"
import { imageTimeoutMs, noImages } from "./support/switch.ts"

/** The blocks that docs/containers.md leaves to this file: start, a session, one question. */
const [start = "", session = "", question = ""] = scripts()

const key = "sk-none-0123456789abcdef"

describe("an image that was built with Claude Code inside, as the guide says", () => {
  testUnless(
    noImages,
    "answers one question, and a session in a terminal is two commands away",
    async () => {
      const { engine } = await images()
      using folder = temporaryFolder()
      checkOut(folder.path)
      const options = { cwd: folder.path, env: { EXECUTOR_PUBLISH: "127.0.0.1:0" } }
      await using cleanup = new AsyncDisposableStack()
      const down = ["-f", "compose.yaml", "-f", "compose.agent.yaml", "down", "--volumes"]
      cleanup.defer(async () => void (await engine.must(["docker", "compose", ...down], options)))

      await engine.must(["bash", "-euc", start], options)
      await using api = await apiFor(engine)
      const env = { ...process.env, ...engine.env, ANTHROPIC_API_KEY: key }
      const answered = await engine.must(["bash", "-euc", question], { env })
      await using terminal = new Terminal(["bash", "-euc", session], env, { cols: 100, rows: 40 })
      await terminal.untilShows(/❯/)
      // In single words: between two, a full-screen program moves the cursor.
      terminal.type("Look!")
      await terminal.untilShows(/Look!/)
      terminal.type("\r")

      await terminal.untilShows(/found-it/)
      expect(answered).toBe("found-it")
      const [use] = api.conversations.at(-1)?.uses ?? []
      expect(use).toMatchObject({ tool: "Bash", isError: false, answer: "nonroot\n/workspace" })
    },
    imageTimeoutMs,
  )
})

function scripts(): string[] {
  const guide = readFileSync(join(root, "docs/containers.md"), "utf8")
  const sections = guideBlocks(guide, "test/image/claude-code-inside.test.ts")
  return sections.flatMap(({ blocks }) => blocks.map(({ text }) => text))
}

/** A stand-in for the API, where the container reaches it; and a user who has been there before. */
async function apiFor(engine: Engine): Promise<MessagesApi> {
  const gateways = "--format={{range .NetworkSettings.Networks}}{{.Gateway}}{{end}}"
  const gateway = await engine.docker("inspect", gateways, containerName)
  const look = { use: "Bash", input: { command: "id -un && pwd" } }
  const api = new MessagesApi(
    ({ uses }) => (uses.length === 0 ? look : { say: "found-it" }),
    gateway,
  )
  const env = {
    ANTHROPIC_BASE_URL: api.url,
    DISABLE_TELEMETRY: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  }
  await write(engine, ".claude/settings.json", { env, permissions: { allow: ["Bash"] } })
  await write(engine, ".claude.json", {
    hasCompletedOnboarding: true,
    theme: "dark",
    customApiKeyResponses: { approved: [key.slice(-20)], rejected: [] },
    projects: { "/workspace": { hasTrustDialogAccepted: true } },
  })
  return api
}

async function write(engine: Engine, name: string, value: unknown): Promise<void> {
  const text = `--env=TEXT=${JSON.stringify(value)}`
  const script = `mkdir -p ~/.claude && printf %s "$TEXT" > ~/${name}`
  await engine.docker("exec", text, containerName, "sh", "-c", script)
}
