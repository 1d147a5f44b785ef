import { existsSync } from "node:fs"
import { join } from "node:path"

export type Step = { name: string; run: () => Promise<number> }

export const root = join(import.meta.dir, "..")

/** Runs the steps in order, with the time each took; the first failure's exit code ends the run. */
export async function runSteps(steps: Step[]): Promise<number> {
  for (const step of steps) {
    console.log(`\n── ${step.name}`)
    const startedMs = performance.now()
    const exitCode = await step.run()
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
    console.log(`── ${step.name}: ${exitCode === 0 ? "ok" : `failed (${exitCode})`}, ${seconds} s`)
    if (exitCode !== 0) return exitCode
  }
  return 0
}

export const install: Step = {
  name: "install",
  run: () => bun("install", "--frozen-lockfile"),
}

/** For what a fresh clone can be asked to do first, before anything of a package is imported. */
export async function installIfMissing(): Promise<void> {
  if (existsSync(join(root, "node_modules"))) return
  const exitCode = await bun("install", "--frozen-lockfile")
  if (exitCode !== 0) process.exit(exitCode)
}

/** Everything that can be known without running a test. */
export const staticSteps: Step[] = [
  { name: "format", run: () => tool("biome", "check") },
  { name: "types", run: () => tool("tsc", "--project", "tsconfig.json") },
  { name: "types, browser", run: () => tool("tsc", "--project", "tsconfig.browser.json") },
  { name: "lint", run: () => tool("oxlint") },
  { name: "dead code", run: () => tool("knip", "--no-progress") },
]

export const build: Step = { name: "build", run: () => bun("scripts/build.ts") }

// Tools are JavaScript launchers; running them with this Bun spares us their `#!/usr/bin/env node`.
function tool(name: string, ...args: string[]): Promise<number> {
  return bun(join("node_modules", ".bin", name), ...args)
}

export function bun(...args: string[]): Promise<number> {
  return run([process.execPath, ...args])
}

export function run(
  command: string[],
  env: Record<string, string> = {},
  cwd = root,
): Promise<number> {
  return Bun.spawn(command, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", "inherit", "inherit"],
  }).exited
}
