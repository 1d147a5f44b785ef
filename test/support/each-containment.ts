import { describe } from "bun:test"
import { rmdirSync } from "node:fs"
import type { ContainmentMode } from "../../src/execution/record.ts"
import { openCgroupBase } from "../../src/service/os/trees/cgroup-base.ts"
import { byScale } from "./scale.ts"
import { containmentModes } from "./service.ts"

const whyNoCgroup = probeCgroups()

type Describe = (situation: string, specify: (containment: ContainmentMode) => void) => void

/** One specification for every way to hold a tree together; skipped where one is not to be had. */
export const describeEachContainment: Describe = (situation, specify) => {
  describeIn(containmentModes, situation, specify)
}

/** The same, for what has little to do with trees: a short run is content with one way. */
export const describeAContainment: Describe = (situation, specify) => {
  const first: ContainmentMode[] = [whyNoCgroup === null ? "cgroup" : "best-effort"]
  const modes = byScale({ short: first, full: containmentModes, long: containmentModes })
  describeIn(modes, situation, specify)
}

function describeIn(
  modes: readonly ContainmentMode[],
  ...[situation, specify]: Parameters<Describe>
): void {
  for (const mode of modes) {
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
