import { existsSync, mkdirSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { inDirectoryLock } from "../../../service/os/directory-lock.ts"
import { componentName, nextSeq, reviewFileName } from "../../documents/review/review-name.ts"
import { type RequestedReview, requestText } from "../../plan/review/request-template.ts"
import { writeText } from "../files/write-text.ts"
import { findRepository } from "../places/git.ts"
import { WorkFailure } from "../work-failure.ts"
import { previousFixes, reviewHome, roundFiles } from "./round-files.ts"

export type NewRequest = Omit<RequestedReview, "name" | "previous" | "files"> & {
  component: string
  files: readonly string[]
  /** Where the request is to be; null for `orchestrator/` in the working directory. */
  out: string | null
  cwd: string
}

/** Writes the request of the next round. Answers its path. */
export async function newRequest(asked: NewRequest): Promise<string> {
  const { cwd } = asked
  const component = componentName(asked.component)
  if (component === null) {
    throw new WorkFailure(
      `"${asked.component}" cannot be part of a file's name: use letters, digits, ., _ and -.`,
    )
  }
  const folder = asked.out ?? join(cwd, "orchestrator")
  const home = reviewHome(join(folder, "request.md"))
  const ground = findRepository(home) ?? home
  const files = asked.files.map((file) => pathIn(ground, resolve(cwd, file)))
  mkdirSync(folder, { recursive: true })
  // Two at once would else take the same number.
  const made = await inDirectoryLock(home, async () => {
    const name = { seq: nextSeq(roundFiles(home)), component }
    const before = previousFixes(home, name)
    const previous = before === null ? null : relative(home, before)
    const path = join(folder, reviewFileName(name, "review_request"))
    writeText(path, Buffer.from(requestText({ ...asked, files, name, previous })))
    return path
  })
  if (made !== null) return made.value
  throw new WorkFailure(`${dirname(folder)} has been locked by another process for a minute.`)
}

function pathIn(ground: string, path: string): string {
  if (!existsSync(path)) throw new WorkFailure(`${path} is not there, so it cannot be reviewed.`)
  const below = relative(ground, path)
  if (!below.startsWith("..")) return below === "" ? "." : below
  throw new WorkFailure(`${path} is not in ${ground}, which a reviewer gets a copy of.`)
}
