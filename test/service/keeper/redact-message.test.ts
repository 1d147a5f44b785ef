import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { redactMessage } from "../../../src/service/keeper/redact.ts"
import { compileRedaction } from "../../../src/service/redaction/redaction.ts"

const begin = "-----BEGIN PRIVATE KEY-----"

function patterns() {
  const compiled = compileRedaction([
    { name: "key", text: `${begin}[A-Za-z0-9+/=\\s]*` },
    { name: "token", text: "ghp_[A-Za-z0-9]{36}" },
  ])
  if (!compiled.ok) throw new Error(compiled.failure[0]?.why)
  return compiled.value
}

describe("a message that quotes what was sent", () => {
  test("has nothing left of a match that goes over line ends", () => {
    const sent = `${begin}\nMIIEvQ\r\n\tBADANB`

    expect(redactMessage(`Unknown execution: ${JSON.stringify(sent)}.`, patterns())).toBe(
      'Unknown execution: "[redacted:key]".',
    )
  })

  test("has nothing left of it whatever else is in the text", () => {
    const redaction = patterns()
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.stringMatching(/^[\n\r]+$/), (sent, end) => {
        const message = `No ${JSON.stringify(`${sent}${begin}${end}LEAK`)} here.`
        expect(redactMessage(message, redaction)).not.toContain("LEAK")
      }),
    )
  })

  test("is what it was where nothing matches", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (message) => {
        expect(redactMessage(message, patterns())).toBe(message.toWellFormed())
      }),
      { numRuns: 50 },
    )
  })

  test("is searched outside of quotes, and in quotes that are not JSON's", () => {
    const token = `ghp_${"Zq9".repeat(12)}`

    expect(redactMessage(`${token} "\n${token}" "${token}`, patterns())).toBe(
      '[redacted:token] "\n[redacted:token]" "[redacted:token]',
    )
  })

  test("is left alone without patterns", () => {
    expect(redactMessage(`"${begin}"`, null)).toBe(`"${begin}"`)
  })
})
