import { describe, expect, test } from "bun:test"
import {
  appendFileSync,
  copyFileSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs"
import { basename, join } from "node:path"
import fc from "fast-check"
import { mostLineBytes } from "../../../src/service/audit/audit-files.ts"
import { AuditLog } from "../../../src/service/audit/audit-log.ts"
import { verifyAudit } from "../../../src/service/audit/verify-audit.ts"
import { ManualClock } from "../../support/manual-clock.ts"
import { QuietLog } from "../../support/quiet-log.ts"
import { SmallDisk } from "../../support/small-disk.ts"
import { notRoot, testUnless } from "../../support/test-unless.ts"
import { attempt, WrittenTrail } from "./written-trail.ts"

describe("a line", () => {
  test("is in the file when it was noted, numbered, with its fields in order", () => {
    using trail = new WrittenTrail()
    trail.audit.note(attempt({ outcome: "refused", reason: "FORBIDDEN", message: "No." }))

    const [began, line = ""] = readFileSync(trail.files[0] ?? "", "utf8").split("\n")

    expect(began).toStartWith('{"number":1,"time":"2026-01-01T00:00:00.000Z","event":"file-began"')
    const { hash, ...rest }: Record<string, unknown> = JSON.parse(line)
    expect(Object.entries(rest)).toEqual([
      ["number", 2],
      ["time", "2026-01-01T00:00:00.000Z"],
      ["event", "attempt"],
      ["principal", "alice"],
      ["address", "192.0.2.7"],
      ["via", "websocket"],
      ["method", "execute"],
      ["outcome", "refused"],
      ["reason", "FORBIDDEN"],
      ["message", "No."],
    ])
    expect(line).toEndWith(`,"hash":"${String(hash)}"}`)
  })

  test("is short, whatever it is given", () => {
    using trail = new WrittenTrail()
    const long = "\u0001".repeat(100_000)

    trail.audit.note(attempt({ principal: long, address: long, method: long, message: long }))

    expect(statSync(trail.files[0] ?? "").size).toBeLessThan(8000)
    expect(verifyAudit(trail.directory).verified).toBe(true)
  })

  test("is one line for readers that know other line ends than ours, too", () => {
    using trail = new WrittenTrail()
    const method = "a\u0085b\u2028c\u2029d\u000be\u000cf\u001cg\r\nh"
    trail.audit.note(attempt({ method }))

    const text = readFileSync(trail.files[0] ?? "", "utf8")

    expect(text.split(/[\p{Cc}\p{Zl}\p{Zp}]/u)).toHaveLength(3)
    expect(trail.lines[1]).toMatchObject({ method })
    expect(verifyAudit(trail.directory).verified).toBe(true)
  })

  test("can be read by the service's own user alone", () => {
    using trail = new WrittenTrail()
    trail.note(1)

    expect(statSync(trail.directory).mode & 0o777).toBe(0o700)
    expect(statSync(trail.files[0] ?? "").mode & 0o777).toBe(0o600)
  })
})

describe("a file that is full", () => {
  test("is followed by another, and the oldest goes when there are enough", () => {
    using trail = new WrittenTrail({ fileBytes: 2000, files: 3 })
    trail.note(100)

    const sizes = trail.files.map((path) => statSync(path).size)
    const began = trail.lines.filter(({ event }) => event === "file-began")

    expect(sizes).toHaveLength(3)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(2000)
    expect(began).toHaveLength(3)
    expect(began.at(-1)).toMatchObject({ what: { kept_from: trail.lines[0]?.["number"] } })
  })

  test("that somebody removed while it was written is told, and missed", () => {
    using trail = new WrittenTrail()
    trail.note(5)
    rmSync(trail.directory, { recursive: true })

    trail.audit.sync()
    trail.note(1)

    expect(trail.log.events).toEqual(["the audit file was removed"])
    expect(trail.events).toEqual(["file-began", "attempt"])
    const { fault } = verifyAudit(trail.directory)
    expect(fault?.why).toBe("has nothing before it: lines 1 to 6 are missing, and nothing says why")
  })
})

describe("a trail that is opened again", () => {
  test("goes on where it ended", () => {
    using trail = new WrittenTrail()
    trail.note(3)
    trail.reopen()
    trail.note(3)

    expect(trail.events).toEqual(["file-began", ...Array<string>(6).fill("attempt")])
    expect(verifyAudit(trail.directory)).toMatchObject({ verified: true, from: 1 })
  })

  test("after a crash is cut back to the last whole line, which is told", () => {
    using trail = new WrittenTrail()
    trail.note(3)
    appendFileSync(trail.files[0] ?? "", '{"number":5,"time":"2026')

    trail.reopen()
    trail.note(1)

    expect(trail.lines.at(-2)).toMatchObject({ event: "recovered", what: { cut_bytes: 24 } })
    expect(verifyAudit(trail.directory)).toMatchObject({ verified: true, unfinishedBytes: 0 })
  })

  test("after a crash at any byte is intact, and tells how much was cut", () => {
    using written = new WrittenTrail({ fileBytes: 1500 })
    written.note(8)
    const [name = "", ...others] = written.files.toReversed()
    const bytes = readFileSync(name)

    fc.assert(
      fc.property(fc.nat(bytes.length), (length) => {
        using trail = new WrittenTrail({ fileBytes: 1500 })
        for (const file of others) copyFileSync(file, join(trail.directory, basename(file)))
        writeFileSync(join(trail.directory, basename(name)), bytes.subarray(0, length))
        trail.reopen()
        trail.note(1)

        const whole = bytes.subarray(0, length).lastIndexOf("\n") + 1
        const cut = trail.lines.flatMap(({ event, what }) => (event === "recovered" ? [what] : []))
        expect(cut).toEqual(length === whole ? [] : [{ cut_bytes: length - whole }])
        expect(verifyAudit(trail.directory)).toMatchObject({ verified: true, from: 1 })
      }),
      { numRuns: 60 },
    )
  })

  test("with a note that is none, for want of better code, costs that line alone", () => {
    using trail = new WrittenTrail()
    trail.audit.note(attempt({ execution_id: "NOT AN ID" }))
    trail.note(1)

    expect(trail.log.events[0]).toBe("audit lines cannot be written")
    expect(trail.lines.at(-2)).toMatchObject({ event: "lines-lost", what: { why: "internal" } })
    expect(verifyAudit(trail.directory).verified).toBe(true)
  })

  test("after a crash in the middle of the first line of a file takes its place", () => {
    using trail = new WrittenTrail({ fileBytes: 2000 })
    trail.note(10)
    const last = trail.files.at(-1) ?? ""
    truncateSync(last, 20)

    trail.reopen()

    expect(trail.lines.at(-1)).toMatchObject({ event: "recovered", what: { cut_bytes: 20 } })
    expect(verifyAudit(trail.directory).verified).toBe(true)
  })

  test.each([
    ["zeros, as a loss of power leaves them", Buffer.alloc(300_000)],
    ["a whole line that is none", Buffer.from("what is this?\n")],
    ["many empty lines", Buffer.alloc(600_000, "\n")],
    ["one line longer than any", Buffer.from(`${"x".repeat(400_000)}\nand more`)],
  ])("loses nothing of what is sound before %s", (_, junk) => {
    using trail = new WrittenTrail()
    trail.note(3)
    const [path = ""] = trail.files
    const sound = readFileSync(path, "utf8")
    appendFileSync(path, junk)

    trail.reopen()
    trail.note(1)

    expect(trail.files).toEqual([path])
    expect(readFileSync(path, "utf8")).toStartWith(sound)
    expect(trail.lines.at(-2)).toMatchObject({
      event: "recovered",
      what: { cut_bytes: junk.length },
    })
    expect(trail.log.events).toEqual(["the audit trail's unsound end is cut off"])
    expect(verifyAudit(trail.directory)).toMatchObject({ verified: true, from: 1 })
  })

  test("finds the last sound line wherever it lies before the junk", () => {
    using written = new WrittenTrail()
    written.note(3)
    const sound = readFileSync(written.files[0] ?? "")

    const lengths = fc.integer({ min: 1, max: 5 * mostLineBytes })
    fc.assert(
      fc.property(lengths, fc.constantFrom("\0", "\n", "{"), (length, filler) => {
        using trail = new WrittenTrail()
        const path = join(trail.directory, "00000001.jsonl")
        writeFileSync(path, Buffer.concat([sound, Buffer.alloc(length, filler)]))
        trail.reopen()

        expect(trail.lines.at(-1)).toMatchObject({ number: 5, what: { cut_bytes: length } })
        expect(readFileSync(path).subarray(0, sound.length)).toEqual(sound)
      }),
      { numRuns: 40 },
    )
  })

  test("sets a file aside that has no sound line, goes on before it, and says so", () => {
    using trail = new WrittenTrail({ fileBytes: 2000 })
    trail.note(10)
    const last = trail.files.at(-1) ?? ""
    const { length } = readFileSync(last)
    const before = trail.lines.findLast(({ event }) => event === "file-began")
    writeFileSync(last, Buffer.alloc(length))

    trail.reopen()

    const aside = last.replace(".jsonl", ".damaged-1.jsonl")
    expect(readFileSync(aside)).toEqual(Buffer.alloc(length))
    const lines = readFileSync(last, "utf8").split("\n")
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ number: before?.["number"] })
    expect(JSON.parse(lines[1] ?? "")).toMatchObject({
      event: "recovered",
      what: { cut_bytes: length, set_aside: basename(aside) },
    })
    expect(trail.log.events).toEqual(["a damaged audit file was set aside"])
    const file = basename(aside)
    expect(verifyAudit(trail.directory)).toMatchObject({ verified: false, fault: { file } })
    rmSync(aside)
    expect(verifyAudit(trail.directory)).toMatchObject({ verified: true, from: 1 })
  })

  test("keeps every file that it sets aside, under a name of its own", () => {
    using trail = new WrittenTrail()
    for (const text of ["first\n", "second\n"]) {
      trail.note(1)
      writeFileSync(join(trail.directory, "00000001.jsonl"), text)
      trail.reopen()
    }

    expect(trail.files.map((path) => basename(path))).toEqual([
      "00000001.damaged-1.jsonl",
      "00000001.damaged-2.jsonl",
      "00000001.jsonl",
    ])
    expect(trail.files.slice(0, 2).map((path) => readFileSync(path, "utf8"))).toEqual([
      "first\n",
      "second\n",
    ])
  })
})

describe("a disk that is full", () => {
  testUnless(notRoot, "costs lines, whose number the next one tells", async () => {
    using disk = new SmallDisk("2m")
    const clock = new ManualClock()
    const log = new QuietLog()
    const directory = join(disk.path, "audit")
    using audit = new AuditLog({ directory, fileBytes: 65_536, files: 4 }, clock, log)
    audit.note(attempt())
    disk.fill()
    // What is left of the file's last page takes some of these, and a new page is not to be had.
    for (let nth = 0; nth < 100; nth += 1) audit.note(attempt({ method: `lost-${nth}` }))
    const written = audit.head.number - 2
    expect(written).toBeLessThan(100)
    expect(verifyAudit(directory)).toMatchObject({ verified: true, unfinishedBytes: 0 })

    disk.empty()
    audit.note(attempt({ method: "after" }))

    const lines = readFileSync(join(directory, "00000001.jsonl"), "utf8").trim().split("\n")
    expect(JSON.parse(lines.at(-2) ?? "")).toMatchObject({
      event: "lines-lost",
      count: 100 - written,
      what: { why: "ENOSPC" },
    })
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ method: "after" })
    expect(verifyAudit(directory).verified).toBe(true)
    expect(log.events).toEqual([
      "audit lines cannot be written",
      "audit lines can be written again; some were lost",
    ])
  })
})
