import { expect, test } from "bun:test"
import { type Prompt, readPrompt } from "../../../src/workflow/documents/prompt.ts"
import { replaceBody } from "../../../src/workflow/improve/replace-body.ts"

const front = "---\nname: p\nchecks: [a]\n---\n"
const metrics =
  "<!-- cc-executor:begin metrics claimed=9:4 -->\n- **Success**: 3\n<!-- cc-executor:end -->\n"

function prompt(text: string): Prompt {
  const read = readPrompt(text)
  if (!read.ok) throw new Error(read.failure.reason)
  return read.value
}

function replaced(current: string, body: string): string {
  const written = replaceBody(prompt(front + current), prompt(front + body))
  if (!written.ok) throw new Error(written.failure)
  expect(written.value).toStartWith(front)
  return written.value.slice(front.length)
}

test.each([
  ["at the end", `# P\n\nOld.\n\n${metrics}`, "# P\n\nNew.\n", `# P\n\nNew.\n\n${metrics}`],
  [
    "behind its heading",
    `# Metrics\n${metrics}\nOld.\n`,
    "# Metrics\n\nNew.\n",
    `# Metrics\n${metrics}\nNew.\n`,
  ],
  [
    "before what follows it, where its heading is another one",
    `# Metrics\n${metrics}# Do\n\nOld.\n`,
    "# Numbers\n# Do\n\nNew.\n",
    `# Numbers\n${metrics}# Do\n\nNew.\n`,
  ],
  [
    "at the end, where nothing is as it was",
    `# A\n${metrics}# B\n`,
    "All new.\n",
    `All new.\n\n${metrics}`,
  ],
  ["at the end of a text without a line end", `Old.\n${metrics}`, "New.", `New.\n\n${metrics}`],
  [
    "at the top, where the end is code that is never closed",
    `Old.\n${metrics}`,
    "New.\n\n```sh\necho\n",
    `${metrics}New.\n\n\`\`\`sh\necho\n`,
  ],
  ["nowhere, where there is nothing of ours", "Old.\n", "New.\n", "New.\n"],
])("what is ours stands %s", (_, current, body, expected) => {
  expect(replaced(current, body)).toBe(expected)
})
