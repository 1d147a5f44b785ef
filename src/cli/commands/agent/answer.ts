import { inputOption } from "../../agents/input-option.ts"
import { flag, option } from "../../arguments.ts"
import { command } from "../../command.ts"
import { addressOptions } from "../../connect/address.ts"
import { reach } from "../../connect/reach.ts"
import { UsageFailure } from "../../failure.ts"

export const agentAnswerCommand = command({
  usage: ["agent answer [OPTIONS] ID QUESTION allow|deny"],
  about: `\
Answers a question of an agent, as \`inbox\` and \`agent status\` show it. The first answer counts;
whoever comes later is told whose it was.`,
  options: {
    input: option("JSON", "with allow: what the tool is to be used with instead"),
    message: option("TEXT", "with deny: what the agent is told", { short: "m" }),
    remember: flag("with allow: do not ask again, as the agent suggests"),
    ...addressOptions,
  },
  examples: {
    yes: "cc-executor agent answer 7kq2mfa4 q1 allow",
    "no, and why": 'cc-executor agent answer 7kq2mfa4 q1 deny -m "Use the test database."',
  },
  operands: { atLeast: 3, atMost: 3, what: "The session's id, the question, and allow or deny," },
  async run(context, { values, operands: [execution_id = "", question_id = "", answer = ""] }) {
    if (answer !== "allow" && answer !== "deny") {
      throw new UsageFailure(`"${answer}" is no answer: use allow or deny.`)
    }
    const { input, message } = values
    await using reached = await reach(context, values, "with-journal")
    await reached.client.call("agent.answer", {
      execution_id,
      question_id,
      behavior: answer,
      remember: values.remember === true,
      ...(input === undefined ? {} : { updated_input: inputOption(input) }),
      ...(message === undefined ? {} : { message }),
    })
    return 0
  },
})
