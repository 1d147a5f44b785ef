import { writeFileSync } from "node:fs"
import { z } from "zod"
import { readOwned, replaceOwned } from "../../lib/owned-file.ts"
import { tryParseJson } from "../../lib/parse-json.ts"
import { fail, ok, type Result } from "../../lib/result.ts"
import { UntrustedFileError } from "../../lib/untrusted-file.ts"
import { statePathsIn } from "./state-paths.ts"

/**
 * What the files of a state directory mean, as a number. Directories were made before they were
 * numbered; what is in those is the first version. The journal has a number of its own besides.
 */
const migrations: ReadonlyArray<(directory: string) => void> = [
  () => undefined, // 0 → 1: nothing but the number
]
export const stateSchema = migrations.length

const Schema = z.object({ schema: z.int().min(0), written_by: z.string() })

/** Why this program cannot use a directory; null when it can. */
export function stateProblem(directory: string, version: string): string | null {
  const found = usableSchema(directory, version)
  return found.ok ? null : found.failure
}

function usableSchema(directory: string, version: string): Result<number, string> {
  const found = readSchema(statePathsIn(directory).schema)
  if (!found.ok) return found
  const { schema, written_by } = found.value
  if (schema <= stateSchema) return ok(schema)
  return fail(
    `The state directory ${directory} has version ${schema}, written by cc-executor ` +
      `${written_by}, but this program (${version}) knows only up to ${stateSchema}. ` +
      "Run the newer program, or choose another directory with --state-dir.",
  )
}

/** Brings a directory up to date; the failure is a sentence for whoever started the service. */
export function migrateState(directory: string, version: string): Result<null, string> {
  const found = usableSchema(directory, version)
  if (!found.ok) return found
  for (const migrate of migrations.slice(found.value)) migrate(directory)
  if (found.value < stateSchema) {
    const path = statePathsIn(directory).schema
    const text = JSON.stringify({ schema: stateSchema, written_by: version })
    replaceOwned(path, (file) => writeFileSync(file, text), { durable: false })
  }
  return ok(null)
}

const mostBytes = 64 * 1024

function readSchema(path: string): Result<z.infer<typeof Schema>, string> {
  try {
    const bytes = readOwned(path, mostBytes)
    if (bytes === null) return ok({ schema: 0, written_by: "an earlier version" })
    const read = Schema.safeParse(tryParseJson(bytes.toString("utf8")))
    return read.success ? ok(read.data) : fail(unreadable(path))
  } catch (error) {
    if (error instanceof UntrustedFileError) return fail(error.message)
    throw error
  }
}

function unreadable(path: string): string {
  return (
    `The file ${path}, which holds the version of the state directory, is not valid. ` +
    "If no newer version has used this directory, remove it; otherwise restore it from a backup."
  )
}
