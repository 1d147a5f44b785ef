import { randomUUID } from "node:crypto"
import type { Deed } from "./deeds.ts"
import type { RawSession } from "./raw-session.ts"
import { type Begin, digestOf } from "./trials.ts"

/** What can be asked about trials, and how to see whether it was done. */

const leaseMs = 600_000

export function announcementFor(word: string): Begin {
  const cwd = "/"
  return {
    work: { name: word, kind: "prompt", path: pathFor(word) },
    version: digestOf(word),
    definition: { steps: [{ id: "red", role: "red", red: "base", cwd, run: "false" }] },
    lease_ms: leaseMs,
  }
}

export function pathFor(word: string): string {
  return `/nowhere/${word}.md`
}

export const trialDeeds = {
  begins: {
    // Words come again: each attempt is about a file of its own.
    stage: async (_owner, word) => ({ id: "", word: `${word}-${randomUUID()}` }),
    async isDone(owner, { word }) {
      const { trials } = await owner.call("trial.list", { path: pathFor(word) })
      return trials.length > 0
    },
  },
  ends: {
    stage: open,
    async isDone(owner, { id: trial }) {
      return (await owner.call("trial.status", { trial })).verdict !== null
    },
  },
  shows: { stage: open, isDone: null },
} satisfies Record<string, Deed>

async function open(owner: RawSession, word: string) {
  const { trial: id } = await owner.call("trial.begin", announcementFor(word))
  return { id, word }
}
