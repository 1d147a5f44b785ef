import { command } from "../../command.ts"
import { changeContexts, contextNamed, localName } from "../../connect/saved-contexts.ts"
import { chosenService } from "../../connect/service-choice.ts"

export const contextUseCommand = command({
  usage: ["context use [OPTIONS] CONTEXT"],
  about: `\
Commands use it unless an option or a variable names another service. \`context use local\` goes
back to the service of this machine.`,
  options: {},
  examples: {
    "use the team's service from now on": "cc-executor context use team",
    "go back to the local service": "cc-executor context use local",
  },
  operands: { atLeast: 1, atMost: 1, what: "The name of the context" },
  async run(context, { operands: [name = ""] }) {
    const url = name === localName ? null : contextNamed(context, name).url
    changeContexts(context, ({ contexts }) => ({ current: url === null ? null : name, contexts }))
    const what = url === null ? "the local service" : `${name}, ${url}`
    await context.stderr.write(`Commands now use ${what}.\n`)
    const { by } = chosenService(context, {})
    if (by.startsWith("CC_EXECUTOR_")) {
      await context.stderr.write(`In this shell, $${by} names another service and comes first.\n`)
    }
    return 0
  },
})
