import { accessSync, constants, existsSync, readFileSync } from "node:fs"
import { release } from "node:os"
import { loadConfig } from "../../config/config.ts"
import { descriptorsFor } from "../../execution/descriptor-needs.ts"
import { errnoOf, isErrno } from "../../lib/errno.ts"
import { limitHolders } from "../../protocol/limit-holders.ts"
import { processLimit, RLIMIT_NOFILE, RLIMIT_NPROC } from "../../service/os/libc.ts"
import type { Context } from "../context.ts"
import { sizeText } from "../time.ts"
import { containmentOffer } from "./containment.ts"
import { examineEnforcement } from "./examine-enforcement.ts"
import { type Finding, ok, warn } from "./finding.ts"

const wantedPipeBytes = 1024 ** 2

/** What this machine offers, whoever runs a service on it. */
export function examineMachine(context: Context): Finding[] {
  return [
    examineShell(context),
    ...examinePipes(),
    ok("system", `${process.platform}-${process.arch}, kernel ${release()}`),
  ]
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

/** What a service would have that is started as this command was: the same limits among it. */
export async function examineOffer(context: Context): Promise<Finding[]> {
  const { CC_EXECUTOR_MAX_EXECUTIONS } = context.env
  const env = CC_EXECUTOR_MAX_EXECUTIONS === undefined ? {} : { CC_EXECUTOR_MAX_EXECUTIONS }
  const config = loadConfig({ flags: {}, env, home: context.home })
  const needed = descriptorsFor(config.ok ? config.value.maxExecutions : 0)
  const offer = await containmentOffer(context)
  const scope = offer.scope ? ", in a scope of its own" : ""
  return examineEnforcement(`a service that is started from here${scope}`, {
    version: context.build.version,
    containment: offer.mode,
    containment_reason: offer.mode === "cgroup" ? null : offer.why,
    limits_held_by: limitHolders(offer.holders),
    open_files: { ...processLimit(process.pid, RLIMIT_NOFILE), needed },
    processes: processLimit(process.pid, RLIMIT_NPROC),
  })
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
