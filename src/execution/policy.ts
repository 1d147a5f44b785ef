import { fail, ok, type Result } from "../lib/result.ts"
import { type ArgumentRule, refusedArgument } from "./argument-rule.ts"

/** A file as it was when it was looked at: changed, replaced or moved, its stamp is another one. */
export type FileIdentity = { realPath: string; stamp: string }

/** The file that is executed, then its interpreter's, and so on: all that a start loads by name. */
export type ProgramFiles = readonly [FileIdentity, ...FileIdentity[]]

/** A program as the allow-list knows it: by its name, and by the files that were behind it. */
export type AllowedProgram = {
  name: string
  /** Where it was found, or where it should have been. */
  path: string
  /** What was found when the policy was read; a text says why nothing was. */
  files: ProgramFiles | string
  arguments: ArgumentRule
}

export type Policy =
  | { kind: "everything" }
  /** Only these programs; the shell only if it is among them. */
  | AllowList

export type AllowList = {
  kind: "allow-list"
  programs: readonly AllowedProgram[]
  /** Real paths; a child starts at or below one of them. Null is anywhere. */
  directories: readonly string[] | null
  /** The only variables a request may set; null is those that are known to be harmless. */
  variables: readonly string[] | null
}

export type ProgramRefusal = { rule: "program" | "arguments"; why: string }

const readAgain = "if you changed it, restart the service or send it SIGHUP"

/**
 * Whether a program may be started with these arguments; a failure says why not. The name counts
 * as well as the file: with busybox and its like, one file is many programs, and to allow one is
 * not to allow all.
 */
export function judgeProgram(
  policy: AllowList,
  found: { name: string; path: string; files: ProgramFiles },
  args: readonly string[],
): Result<AllowedProgram, ProgramRefusal> {
  const named = policy.programs.filter(({ name }) => name === found.name)
  const [file] = found.files
  const same = named.find(({ files }) => sameFiles(files, found.files))
  if (same !== undefined) {
    const why = refusedArgument(same.arguments, args)
    return why === null ? ok(same) : fail({ rule: "arguments", why: `${found.name}: ${why}` })
  }
  const hasChanged = named.some(
    ({ files }) => typeof files !== "string" && files[0].realPath === file.realPath,
  )
  if (hasChanged) {
    const what = `${found.path}, or its interpreter,`
    return refused(`${what} has changed since the policy was read; ${readAgain}`)
  }
  const [unknown] = named.flatMap(({ files }) => (typeof files === "string" ? [files] : []))
  if (unknown === undefined) return refused(`${found.path} is not on the allow-list`)
  return refused(`${found.path} did not exist when the policy was read (${unknown}); ${readAgain}`)
}

function refused(why: string): Result<never, ProgramRefusal> {
  return fail({ rule: "program", why })
}

function sameFiles(allowed: AllowedProgram["files"], found: ProgramFiles): boolean {
  if (typeof allowed === "string" || allowed.length !== found.length) return false
  return allowed.every(({ realPath, stamp }, index) => {
    const other = found[index]
    return other?.realPath === realPath && other.stamp === stamp
  })
}

/** Whether a real path is one of the directories or below it. */
export function isWithin(directories: readonly string[], realPath: string): boolean {
  return directories.some(
    (directory) =>
      realPath === directory ||
      realPath.startsWith(directory.endsWith("/") ? directory : `${directory}/`),
  )
}
