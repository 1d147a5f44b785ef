import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs"
import { basename, join, normalize } from "node:path"
import type { ExecutionId } from "../../../execution/id.ts"
import type { ResourceLimits } from "../../../execution/spec.ts"
import { errnoOf, isErrno } from "../../../lib/errno.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"

type LimitName = keyof ResourceLimits

export type CgroupBase = {
  path: string
  enforceable: ReadonlySet<LimitName>
}

export const limitNames: readonly LimitName[] = ["memoryBytes", "cpus", "pids"]
const controllerOf: Record<LimitName, string> = { memoryBytes: "memory", cpus: "cpu", pids: "pids" }
const ourControllers = new Set(Object.values(controllerOf))
const cpuPeriodUs = 100_000

/**
 * Finds out whether this process may make cgroups (v2, also where it is mounted beside v1) by
 * making one. The failure says, for `doctor`, why not.
 */
export function openCgroupBase(instance: string): Result<CgroupBase, string> {
  const mount = v2Mount()
  if (mount === null) return fail("no cgroup v2 hierarchy is mounted")
  const own = ownCgroup()
  if (own === null) return fail("/proc/self/cgroup names no v2 cgroup")

  const path = join(mount, own, baseName(instance))
  const probe = join(path, "probe")
  try {
    mkdirSync(path, { recursive: true })
    mkdirSync(probe, { recursive: true })
    writeFileSync(join(probe, "cgroup.freeze"), "0")
    writeFileSync(join(probe, "cgroup.kill"), "1")
    rmdirSync(probe)
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === null) throw error
    return fail(`cgroups cannot be created or controlled below ${join(mount, own)} (${errno})`)
  }
  return ok({ path, enforceable: enableControllers(path, join(mount, own)) })
}

/** What the cgroups of a state directory's service are called by. */
export function instanceOf(stateDir: string): string {
  return createHash("sha256").update(stateDir).digest("hex").slice(0, 12)
}

/** Whether a path can be the base of that service's cgroups: else everything there is others'. */
export function isCgroupBaseOf(stateDir: string, path: string): boolean {
  const mount = v2Mount()
  const isBelow = mount !== null && path.startsWith(`${mount}/`) && normalize(path) === path
  return isBelow && basename(path) === baseName(instanceOf(stateDir))
}

function baseName(instance: string): string {
  return `cc-executor-${instance}`
}

export function cgroupOf(base: Pick<CgroupBase, "path">, id: ExecutionId): string {
  return join(base.path, id)
}

/** Makes an execution's cgroup with its limits, before anything runs in it. */
export function makeCgroup(base: CgroupBase, id: ExecutionId, limits: ResourceLimits): string {
  const { enforceable } = base
  const path = cgroupOf(base, id)
  mkdirSync(path, { recursive: true }) // the base too, should somebody have tidied it up
  try {
    limitCgroup(path, {
      memoryBytes: enforceable.has("memoryBytes") ? limits.memoryBytes : null,
      cpus: enforceable.has("cpus") ? limits.cpus : null,
      pids: enforceable.has("pids") ? limits.pids : null,
    })
  } catch (error) {
    rmdirSync(path)
    throw error
  }
  return path
}

function limitCgroup(path: string, limits: ResourceLimits): void {
  if (limits.memoryBytes !== null) {
    writeFileSync(join(path, "memory.max"), String(limits.memoryBytes))
    // Without swap accounting there is no such file, and nothing to be had beyond the limit.
    const swap = join(path, "memory.swap.max")
    if (existsSync(swap)) writeFileSync(swap, "0")
    // A tree that lost one process to the kernel is broken: better all of it ends, and visibly.
    writeFileSync(join(path, "memory.oom.group"), "1")
  }
  if (limits.pids !== null) writeFileSync(join(path, "pids.max"), String(limits.pids))
  if (limits.cpus !== null) {
    const quotaUs = Math.max(1000, Math.round(limits.cpus * cpuPeriodUs))
    writeFileSync(join(path, "cpu.max"), `${quotaUs} ${cpuPeriodUs}`)
  }
}

export function hasRunOutOfMemory(cgroup: string): boolean {
  try {
    return /^oom_kill [1-9]/m.test(readFileSync(join(cgroup, "memory.events"), "latin1"))
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENODEV")) return false // no memory controller here
    throw error
  }
}

/**
 * Controllers reach a cgroup only if its parent hands them down, and a parent may do so only when
 * no process sits in it: where we are alone in a delegated cgroup, we step aside first.
 */
function enableControllers(base: string, own: string): ReadonlySet<LimitName> {
  if (available(base).size === 0 && available(own).size > 0 && stepAside(base)) handDown(own)
  handDown(base)
  const granted = available(base, "cgroup.subtree_control")
  return new Set(limitNames.filter((name) => granted.has(controllerOf[name])))
}

function stepAside(base: string): boolean {
  const supervisor = join(base, "supervisor")
  try {
    mkdirSync(supervisor, { recursive: true })
    writeFileSync(join(supervisor, "cgroup.procs"), String(process.pid))
    return true
  } catch (error) {
    if (!isErrno(error, "EBUSY", "EACCES", "EPERM", "EOPNOTSUPP")) throw error
    return false
  }
}

function handDown(cgroup: string): void {
  for (const controller of available(cgroup)) {
    try {
      writeFileSync(join(cgroup, "cgroup.subtree_control"), `+${controller}`)
    } catch (error) {
      // EBUSY: somebody else's processes sit here. Limits of this kind are then not offered.
      if (!isErrno(error, "EBUSY", "EACCES", "EPERM", "ENOENT", "EINVAL")) throw error
    }
  }
}

/** Those that we have a use for: others are no reason to move anything. */
function available(cgroup: string, file = "cgroup.controllers"): Set<string> {
  const names = readFileSync(join(cgroup, file), "latin1").trim().split(" ")
  return new Set(names.filter((name) => ourControllers.has(name)))
}

function v2Mount(): string | null {
  for (const line of readFileSync("/proc/self/mounts", "utf8").split("\n")) {
    const [, point, type] = line.split(" ")
    if (type === "cgroup2" && point !== undefined) return point.replaceAll("\\040", " ")
  }
  return null
}

function ownCgroup(): string | null {
  return /^0::(.*)$/m.exec(readFileSync("/proc/self/cgroup", "utf8"))?.[1] ?? null
}
