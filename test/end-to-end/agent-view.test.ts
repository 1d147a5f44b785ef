import { describe, expect } from "bun:test"
import { Terminal } from "../cli/terminal/terminal.ts"
import { bash } from "../support/agent-facts.ts"
import { AgentStage } from "../support/agent-stage.ts"
import { noClaudeCode } from "../support/claude-code.ts"
import type { Conversation } from "../support/conversation.ts"
import type { ModelStep } from "../support/messages-api.ts"
import { onlyInFull } from "../support/scale.ts"
import { executable } from "../support/service.ts"
import { testUnless } from "../support/test-unless.ts"
import { makeToken } from "../support/tokens.ts"
import { until } from "../support/until.ts"

const timeoutMs = 120_000
const size = { cols: 80, rows: 24 }

/** Does what it was told last: a command, or an echo of it. */
function obedient({ uses, latest }: Conversation): ModelStep {
  const command = /^run (.*)$/.exec(latest)?.[1]
  const wasUsed = JSON.stringify(uses.at(-1)?.input ?? "").includes(JSON.stringify(command ?? ""))
  if (latest === "hang") return { begin: "I begin, and then" }
  // After an interrupt, Claude Code says before it that there was one.
  const told = latest.split("\n").at(-1)
  return command === undefined || wasUsed ? { say: `I was told: ${told}.` } : bash(command)
}

/** The program on a terminal, as somebody beside the service or with a token. */
function terminalOf(stage: AgentStage, argv: readonly string[], more: Record<string, string> = {}) {
  const { CI: _, ...own } = process.env
  const env = { CC_EXECUTOR_STATE_DIR: stage.service.stateDir, TERM: "xterm", NO_COLOR: "1" }
  return new Terminal([...argv], { ...own, ...env, PROGRAM: executable, ...more }, size)
}

/** Presses a key until it has had its effect: a question takes none when it has just appeared. */
async function pressUntilShows(terminal: Terminal, key: string, pattern: RegExp): Promise<void> {
  await until(`${pattern} after ${key}`, () => {
    terminal.type(key)
    return pattern.test(terminal.screen)
  })
}

/** Ids of the sessions that run. */
async function sessions(stage: AgentStage): Promise<string[]> {
  const { executions } = await stage.client.call("list", {})
  return executions.map(({ execution_id }) => execution_id)
}

describe("a session on a terminal", () => {
  testUnless(
    noClaudeCode,
    "shows what is said and done, takes answers and turns, and is left and found again",
    async () => {
      await using stage = await AgentStage.set(obedient)
      const script =
        '$PROGRAM claude --cwd "$0" "run seq 100 > n; cat n"; echo "left with $?"; stty -a'
      await using terminal = terminalOf(stage, ["sh", "-c", script, stage.project])
      await terminal.untilShows(/> run seq 100/)
      await terminal.untilShows(/● Bash seq 100 > n; cat n/)
      await terminal.untilShows(/ \$ seq 100 > n; cat n/)
      await terminal.untilShows(/\[y\] allow {2}\[n\] deny/)
      await terminal.untilShows(/question \d+s, waits for an answer/)
      await pressUntilShows(terminal, "y", /q1 allowed/)
      await terminal.untilShows(/└ 1\r\n {4}2\r\n {4}3\r\n {4}… 97 more lines/)
      await terminal.untilShows(/I was told: run seq/)
      await terminal.untilShows(/idle: type what to do next/)

      terminal.type("\x15\x1b[200~two\nlines\x1b[201~\r")
      await terminal.untilShows(/> two\r\n {2}lines\r\n/)
      await terminal.untilShows(/I was told: lines\./)
      terminal.type("\x04")
      await terminal.untilShows(/The session goes on. Come back with: cc-executor agent attach/)
      await terminal.untilShows(/left with 0[^]* icanon [^]* echo /)

      const [id = ""] = await sessions(stage)
      await using again = terminalOf(stage, [executable, "agent", "attach", id.slice(0, 8)])
      await again.untilShows(/(?<!local)> run seq 100[^]*q1 allowed\r\n[^]*I was told: lines/)
      again.type("bye\r")
      await again.untilShows(/I was told: bye\./)
      await stage.client.call("agent.end", { execution_id: id })
      await again.untilShows(/The session has ended\. Go on with it: cc-executor claude --resume/)
      expect(await again.exited).toBe(0)
    },
    timeoutMs,
  )

  testUnless(
    noClaudeCode ?? onlyInFull,
    "is interrupted by Ctrl-C and left by a second one, and outlives its terminal",
    async () => {
      await using stage = await AgentStage.set(obedient)
      await using terminal = terminalOf(stage, [executable, "claude", "--cwd", stage.project])
      await terminal.untilShows(/idle: type what to do next/)
      terminal.type("hang\r")
      await terminal.untilShows(/I begin, and then/)
      terminal.type("\x03")
      await terminal.untilShows(/the turn did not succeed: interrupted/)
      terminal.resize(40, 10)
      terminal.type("are you there?\r")
      await terminal.untilShows(/I was told: are you there\?\./)
      terminal.type("\x03\x03")
      expect(await terminal.exited).toBe(0)

      const [id = ""] = await sessions(stage)
      await using other = terminalOf(stage, [executable, "agent", "attach", id])
      await other.untilShows(/idle/)
      process.kill(other.pid, "SIGTERM")
      expect(await other.exited).toBe(143)
      expect((await stage.status(id))?.activity.state).toBe("idle")
    },
    timeoutMs,
  )

  testUnless(
    noClaudeCode ?? onlyInFull,
    "has room for several people, who see each other's turns and answers with their names",
    async () => {
      await using stage = await AgentStage.set(obedient)
      const token = await makeToken(stage.service.stateDir, { name: "anna" })
      const url = ["--url", await stage.service.url()]
      const argv = [executable, "claude", ...url, "--cwd", stage.project, "begin"]
      await using anna = terminalOf(stage, argv, { CC_EXECUTOR_TOKEN: token })
      await anna.untilShows(/I was told: begin\./)
      const [id = ""] = await sessions(stage)
      await using bob = terminalOf(stage, [executable, "agent", "attach", id])
      await bob.untilShows(/anna> begin[^]*I was told: begin\./)

      anna.type("run touch a\r")
      await bob.untilShows(/anna> run touch a/)
      await anna.untilShows(/\n> run touch a/)
      await Promise.all([anna.untilShows(/\[y\] allow/), bob.untilShows(/\[y\] allow/)])
      await pressUntilShows(bob, "n", /q1 denied: local said no/)
      await anna.untilShows(/q1 denied by local/)
      await anna.untilShows(/I was told: run touch a\./)

      await using list = terminalOf(stage, [executable, "ps", "-i"])
      await list.untilShows(/> \w{8} +idle/)
      list.type("\r")
      await list.untilShows(/Ctrl-D goes back to the list[^]*anna> begin[^]*idle: type what to do/)
      list.type("\x04")
      await list.untilShows(/The session goes on[^]*.\[\?1049h[^]*q quit/)
      list.type("l")
      await list.untilShows(/q quit[^]*> begin[^]*press any key/)
      expect(list.screen).not.toContain('"event":')
    },
    timeoutMs,
  )
})

describe("the log of a session", () => {
  testUnless(
    noClaudeCode ?? onlyInFull,
    "is a conversation for people, and its events for programs",
    async () => {
      await using stage = await AgentStage.set(obedient)
      const id = await stage.start({ prompt: "begin", env: {} })
      await stage.whenTurnEnded(id)
      const run = async (...argv: string[]) => {
        const env = { ...process.env, CC_EXECUTOR_STATE_DIR: stage.service.stateDir }
        const program = Bun.spawn([executable, ...argv], { env, stdin: "ignore", stdout: "pipe" })
        return program.stdout.text()
      }

      expect(await run("logs", id)).toMatch(/^\n?local> begin\n[^]*\n\nI was told: begin\.\n— done/)
      expect(await run("logs", "--tail", "1", id)).toMatch(/^— done in [^\n]*\n$/)
      expect(await run("logs", "--since", "2100-01-01", id)).toBe("")
      expect(await run("logs", "--timestamps", id)).toMatch(/\n20\S+Z I was told: begin\.\n/)
      const events = (await run("logs", "--raw", id)).trim().split("\n")
      expect(events.map((line) => JSON.parse(line).n)).toEqual(events.map((_, at) => at + 1))

      const followed = run("logs", "--follow", id)
      const attached = run("agent", "attach", id)
      await stage.client.call("agent.send", { execution_id: id, text: "more" })
      await stage.client.call("agent.end", { execution_id: id })
      expect(await followed).toMatch(/I was told: begin\.[^]*I was told: more\.[^]*session ends/)
      expect(await attached).toBe(await followed)
    },
    timeoutMs,
  )
})
