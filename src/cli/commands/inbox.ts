import { interruptedText, questionText } from "../agents/session-text.ts"
import { flag, readPairs, repeatable } from "../arguments.ts"
import { command } from "../command.ts"
import { addressOf, addressOptions } from "../connect/address.ts"
import { tryReach } from "../connect/reach.ts"

export const inboxCommand = command({
  usage: ["inbox [OPTIONS]"],
  about: `\
Lists the questions that agents have asked and nobody has answered, of every session that you may
answer for, and the sessions that a crash of the service has interrupted and that cannot go on by
themselves. \`agent answer\` answers a question; what goes on with a session is shown with it.`,
  options: {
    json: flag("one JSON document"),
    label: repeatable("NAME=VALUE", "only of sessions with this label", { short: "l" }),
    ...addressOptions,
  },
  examples: { "what waits for me": "cc-executor inbox" },
  async run(context, { values }) {
    const labels = readPairs("--label", values.label)
    const reached = await tryReach(context, addressOf(context, values), "never")
    await using _reached = reached
    const inbox = await reached?.client.call("agent.inbox", { labels })
    const { questions = [], interrupted = [] } = inbox ?? {}
    if (values.json === true) {
      await context.stdout.write(`${JSON.stringify({ questions, interrupted }, null, 2)}\n`)
      return 0
    }
    const texts = [
      ...questions.map((question) => questionText(context, question)),
      ...interrupted.map(interruptedText),
    ]
    await context.stdout.write(texts.length === 0 ? "No question is open.\n" : texts.join("\n"))
    return 0
  },
})
