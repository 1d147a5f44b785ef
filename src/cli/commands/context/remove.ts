import { command } from "../../command.ts"
import { changeContexts, contextNamed } from "../../connect/saved-contexts.ts"

export const contextRemoveCommand = command({
  usage: ["context remove [OPTIONS] CONTEXT"],
  about: "Only what was saved is removed: the files that it names, and the service, stay.",
  options: {},
  examples: { "forget a context": "cc-executor context remove team" },
  operands: { atLeast: 1, atMost: 1, what: "The name of the context" },
  async run(context, { operands: [name = ""] }) {
    contextNamed(context, name)
    let wasCurrent = false
    changeContexts(context, ({ current, contexts }) => {
      wasCurrent = current === name
      const others = Object.entries(contexts).filter(([other]) => other !== name)
      return { current: wasCurrent ? null : current, contexts: Object.fromEntries(others) }
    })
    const local = wasCurrent ? " Commands now use the local service." : ""
    await context.stderr.write(`Removed ${name}.${local}\n`)
    return 0
  },
})
