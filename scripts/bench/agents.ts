import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { connect } from "../../src/client/connect.ts"
import { agentEnvironment } from "../../test/support/agent-stage.ts"
import { claudeCodeFolder, noClaudeCode } from "../../test/support/claude-code.ts"
import { MessagesApi } from "../../test/support/messages-api.ts"
import { below, type Measured } from "./figure.ts"
import { MeasuredService } from "./measured-service.ts"
import { percentile } from "./statistics.ts"

const rounds = 5
const words = 150
const wordEveryMs = 10

const about = `A stand-in of the API says ${words} words to Claude Code, one every
  ${wordEveryMs} ms, each of them the time at which it was said. What is measured is how old a word
  is when a program reads it: from Claude Code's own pipe (the floor), and as an event of a session,
  from a WebSocket of the service. Both in turn, ${rounds} times.`

/** How much later a watcher sees what an agent says than somebody who reads the agent's pipe. */
export async function measureAgents(executable: string): Promise<Measured> {
  if (noClaudeCode !== null) {
    console.error(`agents: skipped, ${noClaudeCode}`)
    return { about, figures: [], plots: [] }
  }
  const folder = mkdtempSync(join(tmpdir(), "cc-executor-bench-agents-"))
  for (const name of ["home", "tmp", "project"]) mkdirSync(join(folder, name))
  await using api = new MessagesApi(() => ({ words: timedWords() }))
  const env = agentEnvironment(folder, api.url)
  await using service = await MeasuredService.start(executable, [], env)
  const cwd = join(folder, "project")
  const direct: number[] = []
  const watched: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    direct.push(...(await agesOnPipe(cwd, env)))
    watched.push(...(await agesOfEvents(service.url, cwd)))
  }
  rmSync(folder, { recursive: true, force: true })
  return {
    about,
    figures: [
      ...[0.5, 0.99].map((share) => ({
        what: `a word of an agent is read, p${share * 100}`,
        value: percentile(watched, share),
        unit: "ms",
        floor: percentile(direct, share),
      })),
      {
        what: "of which the service, p50",
        value: percentile(watched, 0.5) - percentile(direct, 0.5),
        unit: "ms",
        aim: below(5),
      },
    ],
    plots: [],
  }
}

async function* timedWords(): AsyncGenerator<string> {
  for (let word = 0; word < words; word += 1) {
    yield `<${nowMs()}>`
    await Bun.sleep(wordEveryMs)
  }
}

function nowMs(): number {
  return performance.timeOrigin + performance.now()
}

/** The ages of the words in a text that has just come. */
function agesIn(text: string): number[] {
  const now = nowMs()
  return [...text.matchAll(/"text_delta","text":"<([\d.]+)>"/g)].map(
    ([, said]) => now - Number(said),
  )
}

async function agesOnPipe(cwd: string, env: Record<string, string>): Promise<number[]> {
  const json = ["--input-format=stream-json", "--output-format=stream-json", "--verbose"]
  const child = Bun.spawn(
    [join(claudeCodeFolder, "claude"), "-p", ...json, "--include-partial-messages"],
    { cwd, env: { ...process.env, ...env }, stdin: "pipe", stdout: "pipe", stderr: "ignore" },
  )
  const message = { role: "user", content: "begin" }
  await child.stdin.write(`${JSON.stringify({ type: "user", message })}\n`)
  await child.stdin.end()
  const ages: number[] = []
  for await (const bytes of child.stdout) ages.push(...agesIn(Buffer.from(bytes).toString("utf8")))
  await child.exited
  return ages
}

async function agesOfEvents(url: string, cwd: string): Promise<number[]> {
  await using client = connect({ url })
  await using session = await client.startAgent({ cwd, prompt: "begin" })
  const ages: number[] = []
  for await (const notice of session.events()) {
    if (notice.kind !== "event") continue
    if (notice.event.event === "message") ages.push(...agesIn(notice.line))
    if (notice.event.event === "turn-ended") await session.end()
  }
  return ages
}
