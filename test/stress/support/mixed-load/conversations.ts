import type { ReceivedOutput } from "../../../support/received-output.ts"
import { shell } from "../../../support/steered.ts"
import type { StreamClient } from "../../../support/stream-client.ts"
import { digestOf, expectTruth } from "./told-truth.ts"
import { execute, heard, only, type Stage, timed, type Work } from "./work.ts"

const answering = 'while read -r line; do echo "got $line"; done'

/** A line in, an answer out, many times. */
export const conversationWork: Work = {
  kind: "conversation",
  sessions: 1,
  async run(stage, clients) {
    const client = only(clients)
    const ending = { outcome: "exited", exit_code: 4 } as const
    const params = { ...shell(`${answering}; exit 4`), stdin: "pipe" } as const
    const { id, output } = await execute(stage, client, params, ending)

    const said: string[] = []
    for (let round = 0; round < 60; round += 1) {
      said.push(await sayAndHear(stage, client, id, output, round))
    }
    await client.call("input", { execution_id: id, end: true })

    await expectTruth(client, id, output, {
      ending,
      stdout: digestOf(said.map((line) => `got ${line}\n`).join("")),
      stderr: digestOf(""),
      stdinBytes: Buffer.byteLength(said.map((line) => `${line}\n`).join("")),
    })
  },
}

/** The same on a terminal, whose size changes meanwhile. */
export const terminalWork: Work = {
  kind: "terminal",
  sessions: 1,
  async run(stage, clients) {
    const client = only(clients)
    const ending = { outcome: "exited", exit_code: 5 } as const
    const script = `stty -echo; echo ready; ${answering}; stty size; exit 5`
    const params = { ...shell(script), terminal: { cols: 80, rows: 24 } }
    const { id, output } = await execute(stage, client, params, ending)
    await heard(output, "ready", () => output.tail("stdout").includes("ready\r\n"))

    const said: string[] = []
    for (let round = 0; round < 20; round += 1) {
      said.push(await sayAndHear(stage, client, id, output, round))
    }
    const [cols, rows] = [20 + stage.random(200), 10 + stage.random(100)]
    await client.call("resize", { execution_id: id, cols, rows })
    await client.call("input", { execution_id: id, end: true })

    const lines = ["ready", ...said.map((line) => `got ${line}`), `${rows} ${cols}`]
    const stdout = digestOf(lines.map((line) => `${line}\r\n`).join(""))
    await expectTruth(client, id, output, { ending, stdout })
  },
}

/** Answers what was said; the time until it was answered goes in the report. */
async function sayAndHear(
  stage: Stage,
  client: StreamClient,
  id: string,
  output: ReceivedOutput,
  round: number,
): Promise<string> {
  const line = `${round} ${"é€😀".repeat(stage.random(20))} ${stage.random(1_000_000)}`
  const answer = `got ${line}`
  const isAnswered = () => output.tail("stdout").trimEnd().endsWith(answer)
  const answered = heard(output, `an answer to ${line}`, isAnswered)
  await timed(
    stage,
    "input round trip",
    Promise.all([answered, client.call("input", { execution_id: id, data: `${line}\n` })]),
  )
  return line
}
