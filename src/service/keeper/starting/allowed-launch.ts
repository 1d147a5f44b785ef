import { basename, resolve } from "node:path"
import type { ApprovalRule } from "../../../execution/approval-rule.ts"
import { refusedVariable } from "../../../execution/loader-variables.ts"
import { type AllowList, isWithin, judgeProgram, type Policy } from "../../../execution/policy.ts"
import type { RunAs } from "../../../execution/run-as.ts"
import { refusedLine, refusedName, refusedSize } from "../../../execution/strict-request.ts"
import { shortageOf } from "../../../lib/exhaustion.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import type { ExecuteParams } from "../../../protocol/execute.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"
import type { Programs, SpawnFailure } from "../ports.ts"
import { couldNotStart } from "./start-failed.ts"

export type LaunchRules = {
  shell: string
  policy: Policy
  /** What every child gets, whatever is asked. */
  baseEnv: Record<string, string>
  cwd: string
  /** Whom children run as; null is the service's own user. */
  user: RunAs | null
  /** What is decided about agents' questions without a person. */
  approval: readonly ApprovalRule[]
}

/** Which rule refused a request: part of the refusal, for whoever has to explain it. */
type Rule =
  | "arguments"
  | "line"
  | "name"
  | "size"
  | "variable"
  | "directory"
  | "program"
  | "shell"
  | "approval"

export function denied(rule: Rule, why: string): Result<never, Failure> {
  return fail(failure("SECURITY_DENIED", `Refused: ${why}.`, { rule }))
}

/** What an allow-list refuses of a command line before it is even read. */
export function checkLine(request: ExecuteParams, rules: LaunchRules): Result<null, Failure> {
  const { policy, shell } = rules
  if (policy.kind === "everything" || request.command === undefined) return ok(null)
  // Where the shell is allowed, a line is the shell's affair.
  if (namesProgram(policy, shell)) return ok(null)
  const why = refusedLine(request.command)
  return why === null ? ok(null) : denied("line", why)
}

/** What an allow-list refuses of words and variables, whatever program they are for. */
export function checkWords(
  argv: readonly string[],
  env: Record<string, string>,
  { policy, baseEnv }: LaunchRules,
): Result<null, Failure> {
  if (policy.kind === "everything") return ok(null)
  const name = refusedName(argv[0] ?? "")
  if (name !== null) return denied("name", name)
  const size = refusedSize(argv, env)
  if (size !== null) return denied("size", size)
  for (const [variable, value] of Object.entries(env)) {
    // To say what is so anyway changes nothing.
    if (Object.hasOwn(baseEnv, variable) && baseEnv[variable] === value) continue
    const why = refusedVariable(variable, value, policy.variables)
    if (why !== null) return denied("variable", `with an allow-list, ${why}`)
  }
  return ok(null)
}

/** Where the child starts: the real path where policy or user have a say about it. */
export function plannedDirectory(
  asked: string | undefined,
  { policy, cwd, user }: LaunchRules,
  programs: Programs,
): Result<{ cwd: string; cwdIsReal: boolean }, Failure> {
  const directories = policy.kind === "everything" ? null : policy.directories
  if (directories === null && user === null) return ok({ cwd: asked ?? cwd, cwdIsReal: false })
  const [first = cwd] = directories === null || isWithin(directories, cwd) ? [cwd] : directories
  const path = resolve(cwd, asked ?? first)
  const outside = `the working directory ${path} is not in any of the policy's directories`
  const found = programs.directory(path)
  if (!found.ok) {
    if (directories !== null && !isWithin(directories, path)) return denied("directory", outside)
    return fail(couldNotStart(found.failure))
  }
  if (directories !== null && !isWithin(directories, found.value)) {
    return denied("directory", outside)
  }
  return ok({ cwd: found.value, cwdIsReal: true })
}

/** The file to execute, and the name it is told: with an allow-list, what was listed. */
export function plannedProgram(
  wanted: { argv: readonly string[]; shell: boolean },
  where: { path: string; whose: string; cwd: string },
  policy: Policy,
  programs: Programs,
): Result<{ file: string; argv0: string }, Failure> {
  const [argv0 = "", ...args] = wanted.argv
  const refuse = (rule: Rule, why: string) =>
    wanted.shell ? denied("shell", `the command needs the shell, but ${why}`) : denied(rule, why)
  // Before any look at the disk: what is not listed is not to be found out about either.
  if (policy.kind === "allow-list" && !namesProgram(policy, argv0)) {
    return refuse("program", `${argv0} is not on the allow-list`)
  }
  const program = programs.locate(argv0, where.path, where.cwd)
  // What could not be looked at for want of descriptors is not what the policy refuses.
  const isUnjudged = (errno: string) => policy.kind === "everything" || shortageOf(errno) !== null
  if (!program.ok) {
    const failure = searchedIn(program.failure, argv0, where)
    return isUnjudged(failure.errno)
      ? fail(couldNotStart(failure))
      : refuse("program", failure.message)
  }
  const { path } = program.value
  if (policy.kind === "everything") return ok({ file: path, argv0 })
  const files = programs.filesOf(program.value, where.path)
  if (!files.ok) {
    if (isUnjudged(files.failure.errno)) return fail(couldNotStart(files.failure))
    return refuse("program", `${path}: ${files.failure.message}`)
  }
  const found = { name: basename(path), path, files: files.value }
  const verdict = judgeProgram(policy, found, args)
  if (!verdict.ok) return refuse(verdict.failure.rule, verdict.failure.why)
  // The links that led here could lead elsewhere by the time of the start: the file cannot. And
  // Python, for one, looks for its library beside the path it is told that it has.
  const isBare = !argv0.includes("/")
  return ok({ file: files.value[0].realPath, argv0: isBare ? argv0 : verdict.value.path })
}

/** The failure to find a bare name, with where it was looked for. */
export function searchedIn(
  { errno, message }: SpawnFailure,
  name: string,
  { path, whose }: { path: string; whose: string },
): SpawnFailure {
  const isBare = name !== "" && !name.includes("/")
  const isUnfound = errno === "ENOENT" && isBare
  return { errno, message: isUnfound ? `${message} in ${whose} (${path})` : message }
}

function namesProgram({ programs }: AllowList, path: string): boolean {
  return programs.some(({ name }) => name === basename(path))
}
