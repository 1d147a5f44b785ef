import type { OptionTable } from "../arguments.ts"
import { command } from "../command.ts"

const options = {
  json: { type: "boolean", about: "one JSON document" },
} as const satisfies OptionTable

export const versionCommand = command({
  usage: ["version [--json]"],
  options,
  examples: [{ about: "for a bug report", command: "cc-executor version --json" }],
  operands: { atLeast: 0, atMost: 0, what: "" },
  async run(context, { values }) {
    const { version, commit, built } = context.build
    const platform = `${process.platform}-${process.arch}`
    const facts = { version, commit, built, bun: Bun.version, platform }
    const source = built === null ? commit : `${commit} of ${built.slice(0, 10)}`
    const text = `cc-executor ${version} (${source}, Bun ${Bun.version}, ${platform})`
    await context.stdout.write(`${values.json === true ? JSON.stringify(facts) : text}\n`)
    return 0
  },
})
