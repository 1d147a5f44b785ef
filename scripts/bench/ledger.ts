import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { readTaskList } from "../../src/workflow/documents/task-list.ts"
import { summarize } from "../../src/workflow/ledger/summary.ts"
import { verifyLedger } from "../../src/workflow/ledger/verify-ledger.ts"
import { render } from "../../src/workflow/render/render.ts"
import { LedgerFile } from "../../src/workflow/run/files/ledger-file.ts"
import { SignedChain } from "../../test/support/signed-trials.ts"
import { temporaryFolder } from "../../test/support/temporary-folder.ts"
import { below, type Measured } from "./figure.ts"
import { median } from "./statistics.ts"

const trials = 1000
const tasks = 100
const rounds = 5
const about = `A ledger of ${trials} trials, each with a session, four checks that were seen to fail
  and then to pass, and nine receipts: verified whole; read by a runner at its start, and again
  after each trial that it adds; rendered into a prompt and into a list of ${tasks} tasks.`

const unit = "ms of CPU"

/** Needs no executable: these parts are pure. */
export function measureLedger(): Promise<Measured> {
  const chain = new SignedChain().addAll(trials, { recovery: ["a", "b", "c"], session: {} })
  const text = chain.text
  const context = chain.context()
  const summary = summarize(verifyLedger(text, context))
  const list = taskList()
  const ofTasks = summarizeTasks(list)
  const verifyMs = medianMs(() => verifyLedger(text, context))
  const { startMs, addMs } = measureRunner(chain)
  const promptMs = medianMs(() => render("# Do\n\n## Metrics\n", summary))
  const listMs = medianMs(() => render(list, ofTasks))
  return Promise.resolve({
    about,
    figures: [
      { what: `verify ${trials} trials`, value: verifyMs, unit, aim: below(2000) },
      { what: "read at the start of a runner", value: startMs, unit, aim: below(1000) },
      { what: "append one more and read it", value: addMs, unit, aim: below(20) },
      { what: "render a prompt", value: promptMs, unit, aim: below(200) },
      { what: `render ${tasks} tasks`, value: listMs, unit, aim: below(200) },
    ],
    plots: [],
  })
}

/** What a runner does with the ledger as it stands in a file. */
function measureRunner(chain: SignedChain): { startMs: number; addMs: number } {
  using folder = temporaryFolder()
  const path = join(folder.path, "ledger.jsonl")
  writeFileSync(path, chain.text)
  const reading = { publicKeys: chain.context().publicKeys, signaturesOnly: true }
  const startMs = medianMs(() => new LedgerFile(path, reading).lines())
  const ledger = new LedgerFile(path, reading)
  ledger.lines()
  const addMs = medianMs(() => {
    chain.add()
    ledger.append(`${chain.lines.at(-1)}\n`)
    ledger.lines()
  })
  return { startMs, addMs }
}

function taskList(): string {
  const task = (number: number) => `- [ ] **T${number} – do it**\n  Check: \`make ${number}\`\n`
  return Array.from({ length: tasks }, (_, index) => task(index + 1)).join("\n")
}

/** Unsigned: only the rendering is measured. */
function summarizeTasks(list: string) {
  const read = readTaskList(list)
  if (!read.ok) throw new Error(read.failure.reason)
  const chain = SignedChain.unsigned({ kind: "tasks" })
  for (let number = 0; number < trials; number += 1) {
    const task = read.value.tasks[number % tasks]
    if (task !== undefined) chain.add({ item: task.id, version: task.version })
  }
  return chain.summary
}

/** Of the processor: others may use the machine meanwhile. */
function medianMs(run: () => unknown): number {
  const times = Array.from({ length: rounds }, () => {
    const before = process.cpuUsage()
    run()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  })
  return median(times)
}
