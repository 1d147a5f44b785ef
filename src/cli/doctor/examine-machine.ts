import { accessSync, constants, existsSync, readFileSync } from "node:fs"
import { release } from "node:os"
import { loadConfig } from "../../config/config.ts"
import type { LimitsHeldBy } from "../../execution/spec.ts"
import { errnoOf, isErrno } from "../../lib/errno.ts"
import type { Context } from "../context.ts"
import { sizeText } from "../time.ts"
import { type ContainmentOffer, containmentOffer } from "./containment.ts"
import { type Finding, ok, warn } from "./finding.ts"

const fewOpenFiles = 1024
const fewProcesses = 1024
const wantedPipeBytes = 1024 ** 2

/** What this machine and this user's limits offer to executions. */
export async function examineMachine(context: Context): Promise<Finding[]> {
  const offer = await containmentOffer(context)
  return [
    examineContainment(offer),
    examineHolders(offer.holders),
    examineShell(context),
    ...examineLimits(),
    ...examinePipes(),
    ok("system", `${process.platform}-${process.arch}, kernel ${release()}`),
  ]
}

function examineContainment(offer: ContainmentOffer): Finding {
  const where = offer.scope ? ", in a scope of its own" : ""
  if (offer.mode === "best-effort") {
    return warn(
      "containment",
      `best-effort: ${offer.why}`,
      "processes are tracked by group, session and environment; delegate a cgroup to be certain",
    )
  }
  return ok("containment", `cgroup${where}`)
}

/** Which limits of one execution can be held here, and by what. */
function examineHolders(holders: LimitsHeldBy): Finding {
  const kinds = [
    { name: "memory", holder: holders.memoryBytes, rlimit: "per process" },
    { name: "cpu", holder: holders.cpus, rlimit: "" },
    { name: "pids", holder: holders.pids, rlimit: "per user" },
  ]
  const texts = kinds.map(({ name, holder, rlimit }) => {
    if (holder === null) return `${name}: cannot be enforced`
    return holder === "rlimit" ? `${name}: by rlimit, ${rlimit}` : `${name}: by cgroup`
  })
  const text = [...texts, "output: by the service"].join("; ")
  const isAllByCgroup = kinds.every(({ holder }) => holder === "cgroup")
  if (isAllByCgroup) return ok("limits", text)
  return warn("limits", text, "delegate the cgroup controllers memory, cpu and pids")
}

function examineShell(context: Context): Finding {
  const { CC_EXECUTOR_SHELL } = context.env
  const env = CC_EXECUTOR_SHELL === undefined ? {} : { CC_EXECUTOR_SHELL }
  const config = loadConfig({ flags: {}, env, home: context.home })
  const usual = existsSync("/bin/bash") ? "/bin/bash" : "/bin/sh"
  const path = (config.ok ? config.value.shell : null) ?? usual
  try {
    accessSync(path, constants.X_OK)
    return ok("shell", path)
  } catch (error) {
    const why = `${path} cannot be executed (${errnoOf(error)})`
    return warn("shell", why, "command lines need a shell: install it, or choose another --shell")
  }
}

function examineLimits(): Finding[] {
  return [
    limitFinding("open files", "Max open files", fewOpenFiles, "raise it: ulimit -n 65536"),
    limitFinding("processes", "Max processes", fewProcesses, "raise it: ulimit -u 65536"),
  ]
}

function limitFinding(name: string, row: string, least: number, advice: string): Finding {
  const found = new RegExp(`^${row}\\s+(\\S+)\\s+(\\S+)`, "m").exec(readText("/proc/self/limits"))
  const [, soft = "unknown", hard = "unknown"] = found ?? []
  const text = `${soft} (maximum ${hard})`
  return Number(soft) < least ? warn(name, text, advice) : ok(name, text)
}

function examinePipes(): Finding[] {
  const text = readText("/proc/sys/fs/pipe-max-size").trim()
  if (text === "") return []
  const bytes = Number(text)
  if (bytes >= wantedPipeBytes) return [ok("pipes", `up to ${sizeText(bytes)}`)]
  const advice = `for more speed: sysctl fs.pipe-max-size=${wantedPipeBytes}`
  return [warn("pipes", `only up to ${sizeText(bytes)}`, advice)]
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    if (isErrno(error, "ENOENT", "EACCES", "EPERM")) return ""
    throw error
  }
}
