import { join } from "node:path"
import type { Deed, Target } from "./deeds.ts"
import type { RawSession } from "./raw-session.ts"
import { Repository } from "./repository.ts"
import { until } from "./until.ts"

/** A program called `claude` that ends its turns at once: its words do not matter here. */
const folder = join(import.meta.dir, "../fixtures/scripted-agent")
export const scriptedAgentPath = `${folder}:${process.env["PATH"] ?? ""}`

/** By the prompt that it was started with: used until something was done to it. */
const spare = new Map<string, string>()

/** A session that stands where its prompt has led it. */
async function session(owner: RawSession, word: string, prompt: string): Promise<Target> {
  const left = spare.get(prompt)
  if (left !== undefined) return { id: left, word }
  const { execution_id: id } = await owner.call("agent.start", { prompt })
  await until("the session is where it is to be", async () => {
    const answer = await owner.response(owner.request("agent.status", { execution_id: id }))
    const text = JSON.stringify(answer)
    if (prompt === "ask") return text.includes('"question_id":"q1"')
    return text.includes(prompt === "hang" ? '"state":"thinking"' : '"ended":1')
  })
  spare.set(prompt, id)
  return { id, word }
}

function deed(
  prompt: string,
  isDone: (owner: RawSession, target: Target) => Promise<boolean>,
): Deed {
  return {
    stage: (owner, word) => session(owner, word, prompt),
    async isDone(owner, target) {
      const done = await isDone(owner, target)
      if (done && prompt !== "say") spare.delete(prompt)
      return done
    },
  }
}

async function recordOf(owner: RawSession, execution_id: string): Promise<string> {
  const from = "tail-bytes:2000000"
  const { chunks } = await owner.call("transcript.read", { execution_id, from })
  return chunks.map(({ data }) => data).join("")
}

const repositories: Repository[] = []
process.on("exit", () => {
  for (const repository of repositories) repository[Symbol.dispose]()
})

/** What removes the worktree of a session that has ended. */
const removesWorktree: Deed = {
  async stage(owner, word) {
    const repository = Repository.withCommit()
    repositories.push(repository)
    const asked = { cwd: repository.path, worktree: "deed" }
    const { execution_id: id } = await owner.call("agent.start", asked)
    await owner.call("control", { execution_id: id, type: "CANCEL" })
    await until("it has ended", async () => {
      return (await owner.call("status", { execution_id: id })).state === "ended"
    })
    return { id, word }
  },
  async isDone(owner, { id }) {
    return !(await owner.call("agent.changes", { execution_id: id })).exists
  },
}

export const agentDeeds = {
  removesWorktree,
  comparesWorktree: { ...removesWorktree, isDone: null },
  shows: { stage: (owner, word) => session(owner, word, "say"), isDone: null },
  sends: deed("say", async (owner, { id, word }) => {
    return (await recordOf(owner, id)).includes(`"text":"${word}"`)
  }),
  configures: deed("say", async (owner, { id, word }) => {
    return (await recordOf(owner, id)).includes(`"model":"${word}"`)
  }),
  answers: deed("ask", async (owner, { id }) => {
    return (await recordOf(owner, id)).includes('"event":"answer"')
  }),
  interrupts: deed("hang", async (owner, { id }) => {
    return (await recordOf(owner, id)).includes('"outcome":"interrupted"')
  }),
  /** Whoever is ending takes no more turns. */
  ends: {
    stage: (owner, word) => session(owner, word, "say and end"),
    async isDone(owner, { id, word }) {
      const turn = { execution_id: id, text: `after ${word}` }
      const isEnding = "error" in (await owner.response(owner.request("agent.send", turn)))
      if (isEnding) spare.delete("say and end")
      return isEnding
    },
  },
} satisfies Record<string, Deed>
