import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { z } from "zod"
import type { Conversation, ToolUse } from "./conversation.ts"
import type { ModelStep } from "./messages-api.ts"
import { temporaryFolder } from "./temporary-folder.ts"
import { until } from "./until.ts"

const Started = z.object({ execution_id: z.string() })
const Waited = z.object({ ended: z.boolean() })
const Read = z.object({ text: z.string() })

/** How long a model thinks about a call that failed: Claude Code connects anew after a second. */
const thinkingMs = 200

/** A job that stops in its middle until it is told to go on. */
export class HaltingJob implements Disposable {
  readonly command = [
    "seq -f 'line %g' 1 50",
    "touch half",
    "until [ -e go ]; do sleep 0.05; done",
    "seq -f 'line %g' 51 100",
  ].join("; ")
  readonly output = Array.from({ length: 100 }, (_, index) => `line ${index + 1}\n`).join("")
  readonly #folder = temporaryFolder()

  get cwd(): string {
    return this.#folder.path
  }

  async isAtHalf(): Promise<void> {
    await until("the job is at half", () => existsSync(join(this.cwd, "half")))
  }

  goOn(): void {
    writeFileSync(join(this.cwd, "go"), "")
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]()
  }
}

/**
 * The next step of a model that starts a job once, waits for its end in as many calls as that
 * takes, and says what it wrote. A call that failed it makes again, unless it was the start.
 */
export async function seeThrough(job: HaltingJob, { uses }: Conversation): Promise<ModelStep> {
  const started = uses.find(({ tool }) => tool.endsWith("__start"))
  if (started === undefined) return { use: "start", input: { command: job.command, cwd: job.cwd } }
  if (started.isError) throw new Error(`the job could not be started: ${started.answer}`)
  const { execution_id } = Started.parse(JSON.parse(started.answer))

  const last = uses.at(-1)
  if (last?.isError === true) await Bun.sleep(thinkingMs)
  const read = answerOf(Read, "output", uses)
  if (read !== null) return { say: read.text }
  const waited = answerOf(Waited, "wait", uses)
  return { use: waited?.ended === true ? "output" : "wait", input: { execution_id } }
}

/** What a tool answered when it was used last; null where that failed, or was never answered. */
function answerOf<Answer extends z.ZodType>(
  schema: Answer,
  name: string,
  uses: ToolUse[],
): z.output<Answer> | null {
  const use = uses.findLast(({ tool }) => tool.endsWith(`__${name}`))
  if (use === undefined || use.isError || use.answer === "") return null
  return schema.parse(JSON.parse(use.answer))
}
