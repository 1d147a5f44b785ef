import { describe, expect } from "bun:test"
import { join } from "node:path"
import { claudeCodeFolder, noClaudeCode } from "../support/claude-code.ts"
import { MessagesApi, type Model } from "../support/messages-api.ts"
import { descendantsOf, zombiesOf } from "../support/real-processes.ts"
import { testUnless } from "../support/test-unless.ts"
import { until } from "../support/until.ts"
import { Container } from "./support/container.ts"
import { images } from "./support/images.ts"
import { imageTimeoutMs, noImages } from "./support/switch.ts"

describe("Claude Code in the image agent", () => {
  testUnless(
    noImages ?? noClaudeCode,
    "works: it uses the shell, git and ripgrep of the image, as nobody",
    async () => {
      const line = "git --version && rg --version && id -un && pwd"
      await using api = new MessagesApi(usesBash(line))
      await using container = await claudeContainer()

      const { exitCode, stdout, stderr } = await container.exec(...claude(api, "run"))

      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" })
      expect(stdout.trim()).toBe("done")
      const [use] = api.conversations.at(-1)?.uses ?? []
      expect(use).toMatchObject({ tool: "Bash", isError: false })
      expect(use?.answer).toMatch(/^git version .*\nripgrep [^]*nonroot\n\/workspace$/)
    },
    imageTimeoutMs,
  )

  testUnless(
    noImages ?? noClaudeCode,
    "is cancelled with the shells of its tools, and nothing of it is left",
    async () => {
      await using api = new MessagesApi(usesBash("tail -f /dev/null"))
      await using container = await claudeContainer()
      const { Pid: first } = await container.state()
      const { stdout } = await container.exec(...claude(api, "run", "--detach"))
      await until("its tool is at work", () => isAtWork(container))

      const canceled = await container.exec("cancel", stdout.trim())

      expect(canceled).toMatchObject({ exitCode: 0 })
      expect(descendantsOf(first)).toHaveLength(1) // the gateway
      await until("and no zombie stays", () => zombiesOf(first).length === 0)
    },
    imageTimeoutMs,
  )

  testUnless(
    noImages ?? noClaudeCode,
    "as a session takes a turn with a tool, and is cancelled in the next without a trace",
    async () => {
      const model: Model = ({ uses, turns }) => {
        if (uses.length >= turns) return { say: `Turn ${turns} is done.` }
        return { use: "Bash", input: { command: turns === 1 ? "id -un" : "tail -f /dev/null" } }
      }
      await using api = new MessagesApi(model)
      await using container = await claudeContainer()
      const { Pid: first } = await container.state()
      const tools = ["--arg=--allowedTools", "--arg=Bash"]
      const started = await container.exec("claude", "-d", ...variables(api), ...tools, "Look.")
      expect(started).toMatchObject({ exitCode: 0 })
      const id = started.stdout.trim()
      await until("its turn has ended", async () => {
        const { stdout } = await container.exec("agent", "status", "--json", id)
        return stdout.includes('"result": "Turn 1 is done."')
      })
      const [use] = api.conversations.at(-1)?.uses ?? []
      expect(use).toMatchObject({ tool: "Bash", isError: false, answer: "nonroot" })

      await container.exec("agent", "send", id, "Again.")
      await until("its tool is at work", () => isAtWork(container))
      const canceled = await container.exec("cancel", id)

      expect(canceled).toMatchObject({ exitCode: 0 })
      expect(descendantsOf(first)).toHaveLength(1) // the gateway
      await until("and no zombie stays", () => zombiesOf(first).length === 0)
    },
    imageTimeoutMs,
  )
})

/** One use of its shell, and then it is done. */
function usesBash(command: string): Model {
  return ({ uses }) => (uses.length === 0 ? { use: "Bash", input: { command } } : { say: "done" })
}

/** Mounted, as somebody does who has it installed. The machine's network leads to the API. */
async function claudeContainer(): Promise<Container> {
  const program = join(claudeCodeFolder, "claude")
  return Container.start(await images(), {
    image: "agent",
    options: [
      `--volume=${program}:/usr/local/bin/claude:ro`,
      "--tmpfs=/home/nonroot:uid=65532,gid=65532",
      "--network=host",
    ],
    settings: ["--port", "none"],
  })
}

function claude(api: MessagesApi, ...run: string[]): string[] {
  const asked = ["claude", "-p", "--allowedTools", "Bash", "--", "Look around."]
  return [...run, ...variables(api), "--", ...asked]
}

function variables(api: MessagesApi): string[] {
  const env = {
    ANTHROPIC_BASE_URL: api.url,
    ANTHROPIC_API_KEY: "none",
    SHELL: "/bin/bash",
    DISABLE_TELEMETRY: "1",
    DISABLE_AUTOUPDATER: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  }
  return Object.entries(env).map(([name, value]) => `--env=${name}=${value}`)
}

async function isAtWork({ engine, name }: Container): Promise<boolean> {
  const processes = await engine.docker("top", name, "-eo", "pid,args")
  return /\d+ +tail -f \/dev\/null$/m.test(processes)
}
