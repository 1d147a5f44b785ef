import { expect, test } from "bun:test"
import { quotesIn } from "../../../../src/workflow/documents/review/quotes.ts"

const one = "k3tq7mzxw5yhd2vbn4c6fsaelu"
const two = "p5xw7mzxw5yhd2vbn4c6fsaelu"

test("executions are found by their full ids, with their exit and the log below", () => {
  const feedback = `# Feedback

It has \`${one}\` (exit code 1):

\`\`\`text
  first line
…
last line
\`\`\`

${two} exited with 0, and again exit 2.

Both: ${one} and ${two}, exit 7
\`\`\`
of nobody
\`\`\`

\`\`\`
${one} in a log is no quote
\`\`\`
Not one: ${one}x, ${one.slice(1)}, ${one.toUpperCase()}
`

  expect(quotesIn(feedback)).toEqual([
    { id: one, line: 3, exits: [1], log: ["first line", "last line"] },
    { id: two, line: 11, exits: [0, 2], log: [] },
    { id: one, line: 13, exits: [], log: [] },
    { id: two, line: 13, exits: [], log: [] },
  ])
})

test("a log without an end goes to the end", () => {
  expect(quotesIn(`${one}\n~~~\na\n\nb`)).toEqual([
    { id: one, line: 1, exits: [], log: ["a", "b"] },
  ])
})
