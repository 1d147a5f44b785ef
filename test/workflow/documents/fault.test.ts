import { expect, test } from "bun:test"
import { decodeWork, faultText } from "../../../src/workflow/documents/fault.ts"

test("a file is read to the byte, or refused with the line", () => {
  const bytes = (text: string) => new TextEncoder().encode(text)

  expect(decodeWork(bytes("\uFEFFa\r\nb"))).toEqual({ ok: true, value: "\uFEFFa\r\nb" })
  const broken = decodeWork(new Uint8Array([...bytes("a\nb"), 0xe9, ...bytes("\n")]))
  expect(broken.ok ? "" : faultText(broken.failure)).toBe("line 2: this is not UTF-8")
})
