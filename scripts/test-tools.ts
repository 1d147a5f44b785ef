import { existsSync } from "node:fs"
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises"
import { homedir } from "node:os"
import { dirname, join } from "node:path"
import { run, type Step } from "./steps.ts"

/**
 * Programs of others that tests drive from outside, by package and exact version. They are no
 * dependencies: each is installed in a folder of its own, once for all checkouts of a user.
 */
export const testTools = {
  "conformance-legacy": "@modelcontextprotocol/conformance@0.1.16",
  conformance: "@modelcontextprotocol/conformance@0.2.0-alpha.12",
  inspector: "@modelcontextprotocol/inspector@2.12.0",
  "claude-code": "@anthropic-ai/claude-code@2.1.325",
} as const

export type TestTool = keyof typeof testTools

/** Where a tool's `node_modules` is, or null when it could not be installed. */
export function toolFolder(tool: TestTool): string | null {
  const folder = folderOf(tool)
  return existsSync(folder) ? folder : null
}

/** Installs what is missing, else names it and goes on: its tests are skipped, and say so. */
export const installTestTools: Step = {
  name: "test tools",
  run: async () => {
    for (const tool of Object.keys(testTools)) {
      if (isTestTool(tool) && toolFolder(tool) === null) await install(tool)
    }
    return 0
  },
}

function isTestTool(name: string): name is TestTool {
  return Object.hasOwn(testTools, name)
}

/** One for all checkouts of a user. */
export function toolCache(): string {
  const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache")
  return join(cache, "cc-executor-test-tools")
}

function folderOf(tool: TestTool): string {
  return join(toolCache(), testTools[tool].replaceAll("/", "+"))
}

/** Whole or not at all: a folder that was only half filled would never be filled again. */
async function install(tool: TestTool): Promise<void> {
  const folder = folderOf(tool)
  await mkdir(dirname(folder), { recursive: true })
  const building = await mkdtemp(`${folder}-`)
  await writeFile(join(building, "package.json"), "{}")
  const add = [process.execPath, "add", "--cwd", building, "--exact", "--ignore-scripts"]
  const exitCode = await run([...add, testTools[tool]])
  if (exitCode === 0 && !existsSync(folder)) {
    await rename(building, folder)
    return
  }
  await rm(building, { recursive: true })
  if (exitCode !== 0) console.warn(`missing, its tests are skipped: ${testTools[tool]}`)
}
