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

const staticTools: readonly { name: string; words: string[] }[] = [
  { name: "format", words: ["biome", "check"] },
  { name: "types", words: ["tsc", "--project", "tsconfig.json"] },
  { name: "types, browser", words: ["tsc", "--project", "tsconfig.browser.json"] },
  { name: "lint", words: ["oxlint"] },
  { name: "documents", words: ["markdownlint-cli2"] },
  { name: "dead code", words: ["knip", "--no-progress"] },
]

/** Everything that can be known without running a test: side by side, as each uses one core. */
export const staticChecks: Step = {
  name: "static checks",
  async run() {
    const exitCodes = await Promise.all(staticTools.map(checkStatically))
    return exitCodes.find((exitCode) => exitCode !== 0) ?? 0
  },
}

export const build: Step = { name: "build", run: () => bun("scripts/build.ts") }

/** Shows what a tool has to say all at once, when it has ended. */
async function checkStatically({ name, words }: (typeof staticTools)[number]): Promise<number> {
  // Tools are JavaScript launchers: with this Bun, their `#!/usr/bin/env node` is not needed.
  const [program = "", ...args] = words
  const startedMs = performance.now()
  const tool = Bun.spawn([process.execPath, join("node_modules", ".bin", program), ...args], {
    cwd: root,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  })
  const [told, complained] = await Promise.all([tool.stdout.text(), tool.stderr.text()])
  const exitCode = await tool.exited
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
  const outcome = exitCode === 0 ? "ok" : `failed (${exitCode})`
  process.stdout.write(`\n── ${name}: ${outcome}, ${seconds} s\n${told}${complained}`)
  return exitCode
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
