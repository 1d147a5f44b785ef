import { flag } from "../arguments.ts"
import { command } from "../command.ts"

export const versionCommand = command({
  usage: ["version [--json]"],
  options: { json: flag("one JSON document") },
  examples: { "for a bug report": "cc-executor version --json" },
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
