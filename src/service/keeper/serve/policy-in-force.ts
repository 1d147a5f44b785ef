import { existsSync, readFileSync } from "node:fs"
import { basename, isAbsolute } from "node:path"
import type { Config } from "../../../config/config.ts"
import { type PolicyFile, readPolicyFile } from "../../../config/policy-file.ts"
import { type ArgumentRule, anyArguments, matchesName } from "../../../execution/argument-rule.ts"
import { isBaseVariable } from "../../../execution/loader-variables.ts"
import type { AllowedProgram, AllowList } from "../../../execution/policy.ts"
import { findRunAs, type RunAs } from "../../../execution/run-as.ts"
import { errnoOf } from "../../../lib/errno.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { programsFor } from "../../os/programs/programs.ts"
import { changeableBy, changeableByOthers } from "../../os/programs/user-reach.ts"
import type { Programs } from "../ports.ts"
import { type LaunchRules, searchedIn } from "../starting/allowed-launch.ts"

export type Surroundings = { env: Record<string, string | undefined>; cwd: string }

/** Rules as settings and policy file have them, with what should be said about them. */
export type ReadRules = { rules: LaunchRules; programs: Programs; warnings: string[] }

/** What may run here, and as whom. A failure is a sentence for whoever started the service. */
export function readRules(config: Config, around: Surroundings): Result<ReadRules, string> {
  const user = runAsOf(config)
  if (!user.ok) return user
  const programs = programsFor(user.value)
  const shell = config.shell ?? (existsSync("/bin/bash") ? "/bin/bash" : "/bin/sh")
  const base = { shell, cwd: startingDirectory(around.cwd, user.value, programs), user: user.value }
  const own = childEnvironment(around.env, user.value)
  const read = config.policyFile === null ? ok(noFile) : loadFile(config.policyFile, user.value)
  if (!read.ok) return read
  const { file, warnings } = read.value
  const { approval = [] } = file
  if (config.allowedCommands === null && namesNoCommands(config, file)) {
    const rules = { ...base, policy: { kind: "everything" } as const, baseEnv: own, approval }
    return ok({ rules, programs, warnings })
  }
  const commands = allowedCommands(config, file)
  if (!commands.ok) return commands
  const baseEnv = strictEnvironment(own, file.inherit ?? [])
  const policy = allowList(commands.value, file, baseEnv["PATH"] ?? "", programs)
  if (!policy.ok) return policy
  const missing = policy.value.programs.flatMap(({ name, files }) =>
    typeof files === "string" ? [`${name} is allowed but refused for now: ${files}.`] : [],
  )
  const rules = { ...base, policy: policy.value, baseEnv, approval }
  return ok({ rules, programs, warnings: [...warnings, ...missing] })
}

/** Without a file, or with one that is about agents' questions alone. */
function namesNoCommands({ policyFile }: Config, { approval, ...others }: PolicyFile): boolean {
  return policyFile === null || (approval !== undefined && Object.keys(others).length === 0)
}

function runAsOf({ runAs }: Config): Result<RunAs | null, string> {
  if (runAs === null) return ok(null)
  if (process.getuid?.() !== 0) {
    return fail(`--run-as ${runAs} needs root: only root can run commands as another user.`)
  }
  const found = findRunAs(runAs, readText("/etc/passwd"), readText("/etc/group"))
  return found.ok ? found : fail(`--run-as ${runAs} cannot be used: ${found.failure}.`)
}

/** A container may have neither of these files: numbers do without. */
function readText(path: string): string {
  return existsSync(path) ? readFileSync(path, "utf8") : ""
}

/** The service's own directory is no place to start in for a user who may not enter it. */
function startingDirectory(cwd: string, user: RunAs | null, programs: Programs): string {
  if (user === null) return cwd
  return [cwd, user.home].find((directory) => programs.directory(directory).ok) ?? "/"
}

type LoadedFile = { file: PolicyFile; warnings: string[] }
const noFile: LoadedFile = { file: {}, warnings: [] }

function loadFile(path: string, user: RunAs | null): Result<LoadedFile, string> {
  try {
    const file = readPolicyFile(readFileSync(path, "utf8"))
    if (!file.ok) return fail(`The policy file ${path} cannot be used: ${file.failure}.`)
    const changeable = whoCouldChange(path, user)
    if (changeable.refused !== null) {
      return fail(`The policy file ${path} is refused: ${changeable.refused}. ${mend}`)
    }
    return ok({ file: file.value, warnings: changeable.warnings })
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === null) throw error
    return fail(`The policy file ${path} cannot be read (${errno}).`)
  }
}

const mend =
  "Commands must not be able to change the policy: give the file and every directory " +
  "above it to root, with mode go-w."

function whoCouldChange(path: string, user: RunAs | null) {
  const uid = process.getuid?.() ?? 0
  const gid = process.getgid?.() ?? 0
  const others = changeableByOthers(uid, path)
  const refused = (user === null ? null : changeableBy(user, path)) ?? others
  const isOwn = user === null && (uid === 0 || changeableBy({ uid, gid }, path) !== null)
  const warning =
    `Children run as the service's own user, who could change the policy file ${path}: ` +
    "start the service as root with --run-as, or give the file to root."
  return { refused, warnings: isOwn ? [warning] : [] }
}

type Commands = readonly (readonly [string, ArgumentRule])[]

function allowedCommands(config: Config, file: PolicyFile): Result<Commands, string> {
  const { allowedCommands: listed, policyFile } = config
  if (file.commands !== undefined) {
    if (listed === null) return ok(Object.entries(file.commands))
    const both = `--allowed-commands and the commands of ${policyFile}`
    return fail(`${both} conflict: use only one of them.`)
  }
  if (listed !== null) return ok(listed.map((name) => [name, anyArguments] as const))
  const why = "without a list of programs the other rules mean nothing"
  return fail(`The policy file ${policyFile} names no commands: ${why}.`)
}

function allowList(
  commands: Commands,
  file: PolicyFile,
  path: string,
  programs: Programs,
): Result<AllowList, string> {
  const directories: string[] = []
  for (const directory of file.directories ?? []) {
    const found = programs.directory(directory)
    if (!found.ok) return fail(`The policy's directories: ${found.failure.message}.`)
    directories.push(found.value)
  }
  return ok({
    kind: "allow-list",
    programs: commands.map(([name, rule]) => pinned(name, rule, path, programs)),
    directories: file.directories === undefined ? null : directories,
    variables: file.environment ?? null,
  })
}

function pinned(
  command: string,
  rule: ArgumentRule,
  path: string,
  programs: Programs,
): AllowedProgram {
  const program = { name: basename(command), arguments: rule }
  const found = programs.locate(command, path, "/")
  if (!found.ok) {
    const where = { path, whose: "the service's PATH" }
    return { ...program, path: command, files: searchedIn(found.failure, command, where).message }
  }
  const files = programs.filesOf(found.value, path)
  const { path: file } = found.value
  return { ...program, path: file, files: files.ok ? files.value : files.failure.message }
}

/** What steers this service, or the runtime it is made of, is not for the children. */
function childEnvironment(env: Surroundings["env"], user: RunAs | null): Record<string, string> {
  const own = /^(CC_EXECUTOR_|BUN_|NODE_CHANNEL|npm_|NOTIFY_SOCKET$)/
  const ofAnother = /^(SUDO_|XDG_|DBUS_|MAIL$)/
  const entries = Object.entries(env).flatMap(([name, value]) =>
    value === undefined || own.test(name) ? [] : [[name, value] as const],
  )
  if (user === null) return Object.fromEntries(entries)
  const name = user.user ?? String(user.uid)
  return {
    ...Object.fromEntries(entries.filter(([variable]) => !ofAnother.test(variable))),
    HOME: user.home,
    USER: name,
    LOGNAME: name,
    SHELL: user.shell,
  }
}

/** The base set, and what the policy names beside it. */
function strictEnvironment(
  own: Record<string, string>,
  inherit: readonly string[],
): Record<string, string> {
  const kept = Object.entries(own).filter(
    ([name]) => isBaseVariable(name) || inherit.some((pattern) => matchesName(pattern, name)),
  )
  const env = Object.fromEntries(kept)
  const { PATH: path } = env
  // An entry that is empty or relative is whatever directory a request chooses.
  env["PATH"] = (path ?? "").split(":").filter(isAbsolute).join(":") || "/usr/bin:/bin"
  return env
}
