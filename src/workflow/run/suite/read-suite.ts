import { realpathSync } from "node:fs"
import { errnoOf } from "../../../lib/errno.ts"
import { jsonFaultText, readJson } from "../../../lib/json/read-json.ts"
import { readRegularFile } from "../../../lib/read-given-file.ts"
import { selectCategories } from "../../suite/select-categories.ts"
import { SuiteFile } from "../../suite/suite.ts"
import { WorkFailure } from "../work-failure.ts"
import type { SuiteToRun } from "./run-suite.ts"

const mostBytes = 16 * 1024 * 1024
const mostFaults = 20

/** The tests of a suite that are wanted: all, or those of some categories. */
export function readSuite(given: string, wanted: readonly string[]): SuiteToRun {
  const { path, text } = textOf(given)
  const read = readJson(text, SuiteFile)
  if (!read.ok) {
    const faults = read.failure.slice(0, mostFaults).map((fault) => `  ${jsonFaultText(fault)}`)
    throw new WorkFailure(`${path} is no suite:\n${faults.join("\n")}`)
  }
  const { value: suite } = read.value
  const categories = selectCategories(suite, wanted)
  if (!categories.ok) throw new WorkFailure(`${path}: ${categories.failure}`)
  return { id: suite.id, path, categories: categories.value }
}

function textOf(given: string): { path: string; text: string } {
  try {
    const path = realpathSync(given)
    return { path, text: readRegularFile(path, mostBytes) }
  } catch (error) {
    const errno = errnoOf(error)
    if (errno !== null) throw new WorkFailure(`${given} cannot be read (${errno}).`)
    if (error instanceof Error) throw new WorkFailure(`${error.message}.`)
    throw error
  }
}
