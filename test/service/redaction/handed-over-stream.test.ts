import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { HandedRedactor } from "../../../src/execution/handover.ts"
import { compileRedaction } from "../../../src/service/redaction/redaction.ts"

const patterns = [
  { name: "key", text: "sk-[a-z]{3,8}" },
  { name: null, text: "(ab|bc){1,3}d" },
]

/** As another program would have them: nothing is shared but the text of the patterns. */
function redaction() {
  const compiled = compileRedaction(patterns)
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.failure))
  return compiled.value
}

function inOnePiece(text: string) {
  const redactor = redaction().stream()
  const told = [redactor.push(Buffer.from(text)), redactor.end()]
  return { text: Buffer.concat(told).toString(), count: redactor.count }
}

describe("a stream that is handed over between any two pieces", () => {
  test("has the same taken out of it as one that is not", () => {
    const alphabet = fc.constantFrom("a", "b", "c", "d", "sk-", "sk", "-", " ", "x")
    const pieces = fc.array(fc.array(alphabet, { maxLength: 6 }), { maxLength: 8 })
    fc.assert(
      fc.property(pieces, (parts) => {
        const texts = parts.map((part) => part.join(""))
        let redactor = redaction().stream()
        const told: Uint8Array[] = []
        for (const text of texts) {
          told.push(new Uint8Array(redactor.push(Buffer.from(text))))
          const sent = JSON.stringify({ stream: "stdout", ...redactor.handOver() })
          redactor = redaction().stream(HandedRedactor.parse(JSON.parse(sent)))
        }
        told.push(redactor.end())

        const result = { text: Buffer.concat(told).toString(), count: redactor.count }
        expect(result).toEqual(inOnePiece(texts.join("")))
      }),
      { numRuns: 300 },
    )
  })
})
