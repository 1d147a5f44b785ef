import { randomUUID } from "node:crypto"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { scriptedAgentPath } from "./agent-deeds.ts"
import { type Deed, deeds, type Target } from "./deeds.ts"
import { temporaryFolder } from "./temporary-folder.ts"

/** What can be done with works, and how to see whether it was done. */

const folder = temporaryFolder()
process.on("exit", () => folder[Symbol.dispose]())

/** For a service whose runners must not leave anything in somebody's home. */
export const placesElsewhere = { XDG_CACHE_HOME: join(folder.path, "cache") }

/** For a service that is to do all that there are deeds for. */
export const deedEnvironment = { PATH: scriptedAgentPath, ...placesElsewhere }

/** Its trials end before anything is tried: nobody listens there. */
const list = `---
agent: "true"
needs: [http://127.0.0.1:1]
---
- [ ] **T01 – One**
  Check: \`false\`
`

async function stage(_owner: unknown, word: string): Promise<Target> {
  const directory = join(folder.path, randomUUID())
  mkdirSync(directory)
  const path = join(directory, "T.md")
  writeFileSync(path, list)
  return { id: path, word }
}

async function stageRequest(owner: unknown, word: string): Promise<Target> {
  const { id } = await stage(owner, word)
  const path = join(dirname(id), "001_a_review_request.md")
  writeFileSync(path, "---\nreview: 001_a\n---\n")
  return { id: path, word }
}

export const workDeeds = {
  delivers: {
    stage: stageRequest,
    isDone: async (_, { id }) => existsSync(join(dirname(id), "executor", "001_a_fixes.json")),
  },
  runs: { ...deeds.starts, stage },
  shows: { stage, isDone: null },
} satisfies Record<string, Deed>
