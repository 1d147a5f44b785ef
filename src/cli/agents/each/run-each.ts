import { createHash } from "node:crypto"
import { CallError } from "../../../client/client-error.ts"
import type { Client } from "../../../client/connect.ts"
import { shortId } from "../../../execution/id.ts"
import { canonicalText } from "../../../lib/canonical-text.ts"
import { countText } from "../../../lib/count-text.ts"
import { aborted } from "../../../lib/delay.ts"
import { onOneLine } from "../../../lib/harmless-text.ts"
import type { ParamsOf } from "../../../protocol/methods.ts"
import { nextCommand } from "../../connect/next-command.ts"
import type { Context } from "../../context.ts"
import { isLively } from "../../terminal/colours.ts"
import { asLines, erasedFrom } from "../../terminal/terminal-text.ts"
import { hasWork } from "../changes-text.ts"
import { type EachRow, eachTable } from "./each-table.ts"
import { followTurn } from "./follow-turn.ts"
import type { PromptLine } from "./prompt-lines.ts"
import { Stopping } from "./stopping.ts"

export type EachOptions = {
  lines: readonly PromptLine[]
  /** By which all of them can be listed. */
  label: string
  /** What every session is started with. */
  request: ParamsOf<"agent.start">
  sideBySide: number
  /** Whether lines that were started by an earlier command are started anew. */
  isAgain: boolean
}

const redrawMs = 1_000

/** A session for each line, some of them at a time; answers whether all of them succeeded. */
export async function runEach(
  context: Context,
  client: Client,
  options: EachOptions,
): Promise<number> {
  return new EachRun(context, client, options).run()
}

class EachRun {
  readonly #context: Context
  readonly #client: Client
  readonly #options: EachOptions
  readonly #rows: EachRow[]
  readonly #isLively: boolean
  #height = 0
  #next = 0
  #told = ""

  constructor(context: Context, client: Client, options: EachOptions) {
    this.#context = context
    this.#client = client
    this.#options = options
    const empty = { view: null, outcome: null, changes: null }
    this.#rows = options.lines.map((line) => ({ line, ...empty }))
    this.#isLively = isLively(context.stderr, context.env)
  }

  async run(): Promise<number> {
    using stopping = new Stopping(this.#context, (text) => {
      this.#told = text
      if (!this.#isLively) void this.#context.stderr.write(`${text}\n`)
    })
    using watch = this.#client.watch({ each: this.#options.label })
    await watch.ready
    const looking = this.#look(watch)
    const over = new AbortController()
    const drawing = this.#draw(over.signal)
    const { sideBySide, lines } = this.#options
    const workers = Array.from({ length: Math.min(sideBySide, lines.length) }, () =>
      this.#work(stopping),
    )
    try {
      await Promise.all(workers)
    } finally {
      over.abort()
      watch[Symbol.dispose]()
      await Promise.all([drawing, looking])
    }
    await this.#erase()
    await this.#finish(stopping)
    if (stopping.signal.aborted || stopping.isAsked) return stopping.exitCode
    return this.#rows.every(({ outcome }) => outcome === "success") ? 0 : 1
  }

  /** Takes one line after another, until there are none. */
  async #work(stopping: Stopping): Promise<void> {
    while (!stopping.isAsked) {
      const row = this.#rows[this.#next]
      this.#next += 1
      if (row === undefined) return
      await this.#carryOut(row, stopping.signal)
      if (!this.#isLively && row.outcome !== null) await this.#tell(row)
    }
  }

  async #carryOut(row: EachRow, signal: AbortSignal): Promise<void> {
    try {
      const started = await this.#client.call("agent.start", this.#requestFor(row.line))
      const { execution_id, turn_id = execution_id } = started
      row.view = await this.#client.call("status", { execution_id })
      if (!this.#isLively) await this.#tell(row)
      const end = await followTurn(this.#client, execution_id, turn_id, signal)
      if (end === null) return
      const about = { execution_id: end.id }
      row.changes = await this.#client.call("agent.changes", about).catch(nullIfRefused)
      row.view = await this.#client.call("status", about)
      row.outcome = end.outcome
    } catch (error) {
      if (!(error instanceof CallError)) throw error
      row.outcome = "refused"
      await this.#say(`${row.line.worktree}: ${error.message}`)
    }
  }

  /** By its key, a line that was started by a command that has died since is found again. */
  #requestFor({ prompt, worktree }: PromptLine): ParamsOf<"agent.start"> {
    const { request, label, isAgain } = this.#options
    const labels = { name: worktree, ...request.labels, each: label }
    const asked = { ...request, prompt, worktree, labels }
    if (isAgain) return asked
    const hash = createHash("sha256").update(canonicalText(asked)).digest("hex")
    return { ...asked, idempotency_key: `each:${hash}` }
  }

  async #look(watch: ReturnType<Client["watch"]>): Promise<void> {
    for await (const view of watch) {
      const row = this.#rows.find((one) => one.view?.execution_id === view.execution_id)
      if (row !== undefined && row.outcome === null) row.view = view
    }
  }

  async #draw(signal: AbortSignal): Promise<void> {
    if (!this.#isLively) return
    while (!signal.aborted) {
      await this.#redraw()
      await Promise.race([Bun.sleep(redrawMs), aborted(signal)])
    }
  }

  async #redraw(): Promise<void> {
    const { stderr } = this.#context
    const asked = this.#rows.reduce((sum, { view }) => sum + (view?.agent?.open_questions ?? 0), 0)
    const hint = `${countText(asked, "question")} to answer: ${nextCommand(this.#context, "inbox")}`
    const all = eachTable(this.#context, stderr, this.#rows)
    const most = Math.max(3, (this.#context.terminalSize()?.rows ?? 24) - 4)
    const cut = all.length > most ? [`… and ${all.length - most} more`] : []
    const table = [...all.slice(0, most), ...cut]
    const below = [...(asked === 0 ? [] : [hint]), ...(this.#told === "" ? [] : [this.#told])]
    await stderr.write([erasedFrom(this.#height), asLines([...table, ...below])])
    this.#height = table.length + below.length
  }

  async #erase(): Promise<void> {
    await this.#context.stderr.write(erasedFrom(this.#height))
    this.#height = 0
  }

  async #say(text: string): Promise<void> {
    await this.#erase()
    await this.#context.stderr.write(`${onOneLine(text)}\n`)
  }

  async #tell({ view, line, outcome }: EachRow): Promise<void> {
    const id = view === null ? "" : `${shortId(view.execution_id)} `
    await this.#say(`${id}${outcome ?? "started"}: ${line.prompt}`)
  }

  async #finish(stopping: Stopping): Promise<void> {
    const { stdout, stderr } = this.#context
    const next = (...words: [string, string]) => nextCommand(this.#context, ...words)
    await stdout.write(asLines(eachTable(this.#context, stdout, this.#rows)))
    const open = this.#rows.filter(({ outcome }) => outcome === null)
    if (stopping.isAsked && open.length > 0) {
      const running = open.filter(({ view }) => view !== null).length
      await stderr.write(
        `Not done: ${countText(open.length, "line")}, of which ${running} go on without this ` +
          "command. The same command again comes back to them and starts the rest.\n",
      )
    }
    if (this.#rows.some(({ changes }) => changes !== null && hasWork(changes))) {
      await stderr.write(
        `See what one has done: ${next("agent changes", "ID")}; take it: ` +
          `${next("agent take", "ID")}; drop it: ${next("agent drop", "ID")}\n`,
      )
    }
  }
}

function nullIfRefused(error: unknown): null {
  if (error instanceof CallError) return null
  throw error
}
