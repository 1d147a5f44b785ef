import { afterAll, describe, expect, test } from "bun:test"
import { onlyInFull } from "../support/scale.ts"
import { testUnless } from "../support/test-unless.ts"
import { type Block, documentPaths, readDocument } from "./document.ts"
import { Machine } from "./machine.ts"
import { obstacleOf } from "./obstacle.ts"
import { type Reading, runBlock } from "./run-block.ts"
import { ShownOutput } from "./shown-output.ts"

const documents = documentPaths().map(readDocument)
/** The longest pages, which wait for seconds, and show what other tests try in every run. */
const later: ReadonlySet<string> = new Set(["docs/operations.md", "docs/upgrade.md"])
const all = documents.flatMap(({ blocks }) => blocks)

describe.each(documents)("$path", ({ blocks }) => {
  let reading: Reading | null = null
  let section = ""

  afterAll(() => reading?.machine[Symbol.asyncDispose]())

  for (const block of blocks) {
    testUnless(
      obstacleOf(block) ?? (later.has(block.document) ? onlyInFull : null),
      `${block.language}, line ${block.line}: ${firstLine(block)}`,
      async () => {
        reading ??= { machine: new Machine(), output: new ShownOutput() }
        if (block.section !== section) await reading.machine.beginSection()
        section = block.section
        await runBlock(block, reading)
      },
      90_000,
    )
  }
})

test("few blocks are not run, and each says why", () => {
  const left = all.filter(({ comments }) => comments.notRun !== null)
  for (const { document, line, comments } of left) {
    console.log(`not run: ${document}:${line}: ${comments.notRun}`)
  }
  console.log(`${left.length} of ${all.length} blocks of the documents are not run`)

  expect(left.length / all.length).toBeLessThan(0.1)
})

function firstLine({ text }: Block): string {
  return text.split("\n", 1)[0]?.slice(0, 60) ?? ""
}
