import { join } from "node:path"
import { root } from "../../scripts/steps.ts"
import { claudeCodeFolder } from "../support/claude-code.ts"
import type { Machine } from "./machine.ts"
import { untilPrinted } from "./until-printed.ts"

type Preparation = (machine: Machine) => Promise<void>

/** What a block may ask to be there before it. */
const preparations = {
  service: async (machine) => {
    const service = await machine.start("exec cc-executor serve")
    await untilPrinted(machine, service, "listening on")
  },
  checkout: (machine) => succeed(machine, `cd ${quoted(root)}`),
  makefile: (machine) => succeed(machine, `cp ${fixture("Makefile")} .`),
  repository: (machine) => succeed(machine, `bash ${fixture("repository.sh")}`),
  certificates: (machine) => succeed(machine, `bash ${fixture("certificates.sh")}`),
  release: (machine) => succeed(machine, `bash ${fixture("release.sh")}`),
  claude: async (machine) => {
    const api = await machine.start(`exec bun ${fixture("claude-api.ts")}`)
    const url = await untilPrinted(machine, api, "http://")
    const environment = `PATH=$PATH:${quoted(claudeCodeFolder)} ANTHROPIC_BASE_URL=${quoted(url)}`
    await succeed(machine, `export ANTHROPIC_API_KEY=none DISABLE_TELEMETRY=1 ${environment}`)
  },
} satisfies Record<string, Preparation>

export type Given = keyof typeof preparations

export function isGiven(name: string): name is Given {
  return Object.hasOwn(preparations, name)
}

export async function prepare(given: Given[], machine: Machine): Promise<void> {
  for (const name of given) await preparations[name](machine)
}

async function succeed(machine: Machine, script: string): Promise<void> {
  const { exitCode, printed } = await machine.run(script)
  if (exitCode !== 0) throw new Error(`${script}: exit code ${exitCode}: ${printed.join("\n")}`)
}

function fixture(name: string): string {
  return quoted(join(root, "test/documentation/fixtures", name))
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}
