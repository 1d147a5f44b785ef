import { mkdirSync, writeFileSync } from "node:fs"
import { basename, dirname, extname } from "node:path"
import { errnoOf } from "../../lib/errno.ts"
import { promptTemplate, tasksTemplate } from "../plan/templates.ts"
import { WorkFailure } from "./work-failure.ts"

/** Makes a file that explains itself; one that exists stays. Answers its path. */
export function newWork(kind: "prompt" | "tasks", given: string): string {
  const path = extname(given) === "" ? `${given}.md` : given
  const name = basename(path, extname(path))
  const text = kind === "prompt" ? promptTemplate(name) : tasksTemplate(name)
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
