import { rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { WireError } from "../../../src/protocol/failure.ts"
import { methods } from "../../../src/protocol/methods.ts"
import { RawSession } from "../../support/raw-session.ts"

export type StormReport = {
  started: number
  refused: WireError[]
  /** What an execution that was started did not do as it was told. */
  faults: string[]
}

/**
 * So many starts at the same time, over several sessions, by pipes and on terminals. Every second
 * execution runs until all starts are answered, so that there is no room for all of them.
 */
export async function startStorm(url: string, starts: number): Promise<StormReport> {
  const report: StormReport = { started: 0, refused: [], faults: [] }
  const gate = join(tmpdir(), `start-storm-${crypto.randomUUID()}`)
  let answered = 0
  const onAnswer = () => {
    answered += 1
    if (answered === starts) writeFileSync(gate, "")
  }
  const sessions = await Promise.all(Array.from({ length: 4 }, () => RawSession.open(url)))
  await Promise.all(
    Array.from({ length: starts }, async (_, number) => {
      const session = sessions[number % sessions.length]
      if (session !== undefined) await startOne(session, { number, gate, onAnswer }, report)
    }),
  )
  for (const session of sessions) session[Symbol.dispose]()
  rmSync(gate)
  return report
}

type Start = { number: number; gate: string; onAnswer: () => void }

async function startOne(
  session: RawSession,
  { number, gate, onAnswer }: Start,
  report: StormReport,
): Promise<void> {
  const exitCode = number % 200
  const text = `execution ${number}`
  const waits = number % 2 === 0 ? `sleepFor(0.05) until -e "${gate}"` : "sleepFor(0.3)"
  // One process each: a shell that cannot fork would say so itself.
  const script =
    "$| = 1; sub sleepFor { select undef, undef, undef, $_[0] } " +
    `print "${text}\\n"; ${waits}; exit ${exitCode}`
  const id = session.request("execute", { argv: ["perl", "-e", script], ...ways[number % 3] })
  const answer = await session.response(id)
  onAnswer()
  if ("error" in answer) {
    report.refused.push(answer.error)
    return
  }
  report.started += 1
  const { execution_id } = methods.execute.result.parse(answer.result)
  const { outcome, exit_code, reason } = await session.heard("process.completed", execution_id)
  const output = session.allHeard("process.output", execution_id).map(({ data }) => data)
  const isRight = outcome === "exited" && exit_code === exitCode && output.join("").includes(text)
  if (!isRight) report.faults.push(`${outcome} ${exit_code} ${reason}: ${output.join("")}`)
}

const ways = [{}, { stdin: "pipe" }, { terminal: { cols: 80, rows: 24 } }] as const
