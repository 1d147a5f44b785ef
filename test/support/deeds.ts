import type { RawSession } from "./raw-session.ts"
import { until } from "./until.ts"

/** What an operation is asked about, and a word by which everything of one attempt is known. */
export type Target = { id: string; word: string }

/** Something that an operation does: how to set it up, and how to see whether it was done. */
export type Deed = {
  stage(owner: RawSession, word: string): Promise<Target>
  /** Null for what changes nothing: then all that matters is whether it was answered. */
  isDone: ((owner: RawSession, target: Target) => Promise<boolean>) | null
}

const terminal = { cols: 80, rows: 24 }

export const deeds = {
  starts: {
    stage: async (_, word) => ({ id: "", word }),
    async isDone(owner, { word }) {
      const { executions } = await owner.call("list", { labels: { word } })
      return executions.length > 0
    },
  },
  pauses: {
    stage: live,
    isDone: async (owner, { id }) => (await stateOf(owner, id)) === "paused",
  },
  resumes: {
    async stage(owner, word) {
      const target = await live(owner, word)
      await owner.call("control", { type: "PAUSE", execution_id: target.id })
      return target
    },
    isDone: async (owner, { id }) => (await stateOf(owner, id)) === "running",
  },
  cancels: { stage: live, isDone: async (owner, target) => !(await answers(owner, target)) },
  signals: { stage: live, isDone: async (owner, target) => !(await answers(owner, target)) },
  writes: {
    stage: live,
    async isDone(owner, target) {
      await answers(owner, target)
      return (await outputOf(owner, target.id)).includes(`written ${target.word}`)
    },
  },
  resizes: {
    async stage(owner, word) {
      const command = 'while read line; do echo "$line: $(stty size)"; done'
      const { execution_id: id } = await owner.call("execute", { command, terminal })
      return { id, word }
    },
    async isDone(owner, { id }) {
      probes += 1
      const told = new RegExp(`^probe ${probes}: (.*?)\r?$`, "m")
      await owner.call("input", { execution_id: id, data: `probe ${probes}\n` })
      const size = await until("the size is told", async () => {
        return told.exec(await outputOf(owner, id))?.[1]
      })
      return size === "33 111"
    },
  },
  removes: {
    stage: ended,
    async isDone(owner, { id }) {
      const answer = await owner.response(owner.request("status", { execution_id: id }))
      return "error" in answer
    },
  },
  /** Of one that has ended, and has written its word. */
  shows: { stage: ended, isDone: null },
  /** The same on a terminal. */
  draws: {
    async stage(owner, word) {
      const { id } = await owner.run({ argv: ["printf", "%s\\n", word], terminal })
      return { id, word }
    },
    isDone: null,
  },
  /** The same of one that still runs, for what ends with it. */
  follows: { stage: live, isDone: null },
} satisfies Record<string, Deed>

async function live(owner: RawSession, word: string): Promise<Target> {
  const { execution_id: id } = await owner.call("execute", { command: "cat", stdin: "pipe" })
  return { id, word }
}

async function ended(owner: RawSession, word: string): Promise<Target> {
  const { id } = await owner.run({ argv: ["printf", "%s\\n", word] })
  return { id, word }
}

async function stateOf(owner: RawSession, execution_id: string): Promise<string> {
  return (await owner.call("status", { execution_id })).state
}

let probes = 0

/** Whether it still reads and writes: whatever was sent to it before has had its effect by then. */
async function answers(owner: RawSession, { id, word }: Target): Promise<boolean> {
  probes += 1
  const line = `probe ${probes} of ${word}\n`
  const sent = await owner.response(owner.request("input", { execution_id: id, data: line }))
  if ("error" in sent) return false
  return until("it answers, or has ended", async () => {
    if ((await outputOf(owner, id)).includes(line)) return [true]
    return (await stateOf(owner, id)) === "ended" ? [false] : null
  }).then(([doesAnswer = false]) => doesAnswer)
}

async function outputOf(owner: RawSession, execution_id: string): Promise<string> {
  const { chunks } = await owner.call("transcript.read", { execution_id })
  return chunks.map(({ data }) => data).join("")
}
