import { describe, expect, test } from "bun:test"
import { readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { basename } from "node:path"
import fc from "fast-check"
import { verifyAudit } from "../../../src/service/audit/verify-audit.ts"
import { attempt, WrittenTrail } from "./written-trail.ts"

/** A trail of a few short files, written once: what a test changes, it puts back. */
const few = { fileBytes: 2000, files: 4 }

describe("a trail as it was written", () => {
  test("is intact from its first line to its head, over several files", () => {
    using trail = new WrittenTrail({ ...few, files: 100 })
    trail.note(30)

    const verdict = verifyAudit(trail.directory)

    const { number, hash } = trail.audit.head
    expect(verdict).toEqual({
      verified: true,
      fault: null,
      files: trail.files.length,
      from: 1,
      head: { number, hash },
      unfinishedBytes: 0,
    })
    expect(trail.files.length).toBeGreaterThan(3)
  })

  test("is intact from where it is kept when older files have been removed", () => {
    using trail = new WrittenTrail(few)
    trail.note(100)

    const { verified, from, files } = verifyAudit(trail.directory)

    expect({ verified, files }).toEqual({ verified: true, files: 4 })
    expect(from).toBeGreaterThan(1)
  })

  test("is intact when there is none", () => {
    expect(verifyAudit("/nowhere/at/all")).toMatchObject({ verified: true, from: null, head: null })
  })
})

describe("a trail that was changed", () => {
  test("is broken in the very line in which a single byte was flipped", () => {
    using trail = new WrittenTrail(few)
    trail.note(60)
    const files = trail.files.map((path) => ({ path, bytes: readFileSync(path) }))
    const total = files.reduce((sum, { bytes }) => sum + bytes.length, 0)

    fc.assert(
      fc.property(fc.nat(total - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const { path, bytes, offset } = fileAt(files, at)
        const changed = Buffer.from(bytes)
        changed[offset] = (bytes[offset] ?? 0) ^ flip
        writeFileSync(path, changed)
        const { fault } = verifyAudit(trail.directory)
        writeFileSync(path, bytes)

        const line = bytes.subarray(0, offset).filter((byte) => byte === 0x0a).length + 1
        expect(fault).toMatchObject({ file: basename(path), line })
      }),
      { numRuns: 1500 },
    )
    expect(verifyAudit(trail.directory).verified).toBe(true)
  })

  test("is broken where a line was removed, doubled, or changed places", () => {
    using trail = new WrittenTrail(few)
    trail.note(60)
    const files = trail.files.map((path) => ({ path, bytes: readFileSync(path) }))
    const damage = fc.constantFrom("remove", "double", "swap")

    fc.assert(
      fc.property(fc.nat(files.length - 1), fc.nat(50), damage, (which, nth, how) => {
        const { path, bytes } = files[which] ?? { path: "", bytes: Buffer.alloc(0) }
        const lines = bytes.toString().split("\n").slice(0, -1)
        const at = nth % (lines.length - 1) // all but the last: cut ends are another matter
        const [line = "", next = ""] = lines.slice(at, at + 2)
        if (how === "remove") lines.splice(at, 1)
        else if (how === "double") lines.splice(at, 0, line)
        else lines.splice(at, 2, next, line)
        writeFileSync(path, lines.map((one) => `${one}\n`).join(""))
        const { fault } = verifyAudit(trail.directory)
        writeFileSync(path, bytes)

        expect(fault?.file).toBe(basename(path))
        expect(fault?.line).toBe(how === "double" ? at + 2 : at + 1)
      }),
      { numRuns: 300 },
    )
  })

  test("is broken where a whole file is missing, at the beginning too", () => {
    using trail = new WrittenTrail(few)
    trail.note(60)
    for (const path of trail.files.slice(0, -1)) {
      const bytes = readFileSync(path)
      rmSync(path)
      const { verified, fault } = verifyAudit(trail.directory)
      writeFileSync(path, bytes)

      expect(verified).toBe(false)
      expect(fault).toMatchObject({ line: 1, why: expect.stringContaining("missing") })
    }
  })

  test("and hashed again from there on is broken for who noted a head before", () => {
    using trail = new WrittenTrail()
    trail.note(5)
    using forged = new WrittenTrail()
    forged.audit.note(attempt({ principal: "mallory" }))
    forged.note(7)

    const { fault } = verifyAudit(forged.directory, trail.audit.head)

    expect(verifyAudit(forged.directory).verified).toBe(true)
    expect(fault?.why).toContain("has another hash in the given head")
  })
})

describe("a trail whose end was cut off", () => {
  test("says how much of a line is there, and is sound up to it", () => {
    using trail = new WrittenTrail()
    trail.note(5)
    const [path = ""] = trail.files
    const bytes = readFileSync(path)
    const lastLine = bytes.lastIndexOf("\n", bytes.length - 2) + 1

    for (let length = lastLine + 1; length < bytes.length; length += 1) {
      truncateSync(path, length)
      const verdict = verifyAudit(trail.directory)
      writeFileSync(path, bytes)

      expect(verdict).toMatchObject({ verified: true, unfinishedBytes: length - lastLine })
      expect(verdict.head?.number).toBe(trail.audit.head.number - 1)
    }
  })

  test("between two lines is broken only for who noted the head", () => {
    using trail = new WrittenTrail()
    trail.note(5)
    const { head } = trail.audit
    const [path = ""] = trail.files
    const bytes = readFileSync(path)
    truncateSync(path, bytes.lastIndexOf("\n", bytes.length - 2) + 1)

    expect(verifyAudit(trail.directory).verified).toBe(true)
    const { fault } = verifyAudit(trail.directory, head)
    expect(fault?.why).toBe(
      `ends the trail before line ${head.number} of the given head: lines were removed`,
    )
  })

  test("a head that is in the chain is found, the one before the oldest line too", () => {
    using trail = new WrittenTrail(few)
    const heads = Array.from({ length: 60 }, () => {
      trail.note(1)
      return trail.audit.head
    })
    const { from } = verifyAudit(trail.directory)

    for (const head of heads) {
      const { verified, fault } = verifyAudit(trail.directory, head)
      expect(verified).toBe(head.number >= (from ?? 0) - 1)
      if (!verified) expect(fault?.why).toContain("no longer kept")
    }
  })
})

function fileAt(files: Array<{ path: string; bytes: Buffer }>, at: number) {
  let offset = at
  for (const file of files) {
    if (offset < file.bytes.length) return { ...file, offset }
    offset -= file.bytes.length
  }
  throw new Error(`there are no ${at} bytes`)
}
