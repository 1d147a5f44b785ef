import { rmdirSync } from "node:fs"
import { openCgroupBase } from "../../src/service/os/trees/cgroup-base.ts"

/** The limits that cgroups can hold on this machine. */
export function findControllers(): ReadonlySet<string> {
  const base = openCgroupBase("test-controllers")
  if (!base.ok) return new Set()
  rmdirSync(base.value.path)
  return base.value.enforceable
}
