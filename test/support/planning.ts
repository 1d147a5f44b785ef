import { anyArguments } from "../../src/execution/argument-rule.ts"
import type { AllowList } from "../../src/execution/policy.ts"
import { heldByNothing } from "../../src/execution/spec.ts"
import { ExecuteParams } from "../../src/protocol/execute.ts"
import type { Programs } from "../../src/service/keeper/ports.ts"
import { type PlanSettings, planExecution } from "../../src/service/keeper/starting/plan.ts"

const settings: PlanSettings = {
  shell: "/bin/sh",
  policy: { kind: "everything" },
  baseEnv: { PATH: "/bin", HOME: "/home/me" },
  cwd: "/srv",
  user: null,
  approval: [],
  budget: { bytes: 1000, lines: 10, policy: "block" },
  wallTimeoutMs: 60_000,
  idleTimeoutMs: null,
  limits: { memoryBytes: null, cpus: null, pids: null },
  holders: heldByNothing,
  maxWallTimeoutMs: Infinity,
  maxOutputBytes: Infinity,
  retainBytesPerPrincipal: Infinity,
}

const installed = new Set(["/bin/sh", "/bin/ls", "/bin/cat"])
const programs: Programs = {
  locate(name, path) {
    const full = name.includes("/") ? name : `${path}/${name}`
    if (installed.has(full)) return { ok: true, value: { path: full, realPath: `/real${full}` } }
    return { ok: false, failure: { errno: "ENOENT", message: `${name}: command not found` } }
  },
  filesOf: ({ realPath }) => ({ ok: true, value: [{ realPath, stamp: "as it was" }] }),
  directory: (path) =>
    path.includes("missing")
      ? { ok: false, failure: { errno: "ENOENT", message: `${path} does not exist` } }
      : { ok: true, value: path.replace("/link", "/elsewhere") },
}

export function plan(request: object, change: Partial<PlanSettings> = {}) {
  return planExecution(ExecuteParams.parse(request), { ...settings, ...change }, programs, true)
}

export function allowing(...names: string[]): { policy: AllowList } {
  const allowed = names.map((name) => ({
    name,
    path: `/bin/${name}`,
    files: [{ realPath: `/real/bin/${name}`, stamp: "as it was" }] as const,
    arguments: anyArguments,
  }))
  return { policy: { kind: "allow-list", programs: allowed, directories: null, variables: null } }
}
