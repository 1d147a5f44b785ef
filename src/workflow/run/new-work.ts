import { mkdirSync, writeFileSync } from "node:fs"
import { basename, dirname, extname } from "node:path"
import { errnoOf } from "../../lib/errno.ts"
import { blueprintTemplate } from "../plan/blueprint-template.ts"
import { promptTemplate, tasksTemplate } from "../plan/templates.ts"
import { WorkFailure } from "./work-failure.ts"

const templates = { prompt: promptTemplate, tasks: tasksTemplate, blueprint: blueprintTemplate }

/** Makes a file that explains itself; one that exists stays. Answers its path. */
export function newWork(kind: keyof typeof templates, given: string): string {
  const path = extname(given) === "" ? `${given}.md` : given
  const name = basename(path, extname(path))
  const text = templates[kind](name)
  try {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text, { flag: "wx" })
    return path
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === "EEXIST") throw new WorkFailure(`${path} exists already.`)
    if (errno === null) throw error
    throw new WorkFailure(`${path} cannot be written (${errno}).`)
  }
}
