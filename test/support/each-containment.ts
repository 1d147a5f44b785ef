import { describe } from "bun:test"
import { rmdirSync } from "node:fs"
import type { ContainmentMode } from "../../src/execution/record.ts"
import { openCgroupBase } from "../../src/service/os/trees/cgroup-base.ts"
import { containmentModes } from "./service.ts"

const whyNoCgroup = probeCgroups()

/** One specification for every way to hold a tree together; skipped where one is not to be had. */
export function describeEachContainment(
  situation: string,
  specify: (containment: ContainmentMode) => void,
): void {
  for (const mode of containmentModes) {
    const missing = mode === "cgroup" ? whyNoCgroup : null
    const title = `[${mode}] ${situation}`
    if (missing === null) describe(title, () => specify(mode))
    else describe.skip(`${title} (${missing})`, () => specify(mode))
  }
}

function probeCgroups(): string | null {
  const base = openCgroupBase("test-probe")
  if (!base.ok) return base.failure
  rmdirSync(base.value.path)
  return null
}
