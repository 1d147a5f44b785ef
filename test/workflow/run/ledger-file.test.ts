import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import {
  appendFileSync,
  lstatSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { LedgerFile } from "../../../src/workflow/run/files/ledger-file.ts"
import { SignedChain } from "../../support/signed-trials.ts"
import { SmallDisk } from "../../support/small-disk.ts"
import { temporaryFolder } from "../../support/temporary-folder.ts"
import { notRoot, testUnless } from "../../support/test-unless.ts"

const chain = new SignedChain().addAll(4)
const lines = chain.lines.map((line) => `${line}\n`)
const reading = { publicKeys: [chain.key.publicPem] }
const [first = "", second = "", third = "", fourth = ""] = lines

let folder: ReturnType<typeof temporaryFolder>
let path: string
let ledger: LedgerFile

beforeEach(() => {
  folder = temporaryFolder()
  path = join(folder.path, "work.md.intoto.jsonl")
  ledger = new LedgerFile(path, reading)
})

afterEach(() => folder[Symbol.dispose]())

/** The number of each line, and of the trial that it attests. */
function seen(file = ledger): string[] {
  return file.lines().map(({ number, checked }) => {
    return `${number}: ${checked.ok ? checked.value.announcement.sequence : checked.failure.kind}`
  })
}

describe("reading", () => {
  test("finds nothing where there is no file", () => {
    expect(seen()).toEqual([])
    expect(ledger.text()).toBe("")
    expect(ledger.isWhole).toBe(true)
  })

  test("follows what others append, without reading again what was there", () => {
    writeFileSync(path, first + second)
    const before = ledger.lines()
    appendFileSync(path, third)
    appendFileSync(path, fourth)

    expect(seen()).toEqual(["1: 1", "2: 2", "3: 3", "4: 4"])
    expect(ledger.lines()[0]).toBe(before[0])
    expect(ledger.lines()).toBe(ledger.lines())
  })

  test("begins anew with another file in its place", () => {
    writeFileSync(path, first + second)
    seen()
    const other = `${path}.new`
    writeFileSync(other, `{}\n${second}${third}`)
    renameSync(other, path)

    expect(seen()).toEqual(["1: unreadable", "2: 2", "3: 3"])
  })

  test("begins anew where something was changed in place, or cut off", () => {
    writeFileSync(path, first + second)
    seen()
    writeFileSync(path, second + first)
    utimesSync(path, 1, 1)
    expect(seen()).toEqual(["1: 2", "2: 1"])
    writeFileSync(path, second)
    expect(seen()).toEqual(["1: 2"])
    rmSync(path)
    expect(seen()).toEqual([])
  })

  test("tells a line whose end is missing, and reads it again when it is there", () => {
    writeFileSync(path, first + second.slice(0, 100))
    expect(seen()).toEqual(["1: 1", "2: unreadable"])
    expect(ledger.isWhole).toBe(false)
    appendFileSync(path, second.slice(100))
    expect(seen()).toEqual(["1: 1", "2: 2"])
    expect(ledger.isWhole).toBe(true)
  })

  test("counts empty lines, as an editor does", () => {
    writeFileSync(path, `${first}\n\n`)
    seen()
    appendFileSync(path, second)
    expect(seen()).toEqual(["1: 1", "4: 2"])
  })

  test("refuses what is no file, and waits for nobody", () => {
    Bun.spawnSync(["mkfifo", path])
    expect(() => ledger.lines()).toThrow("is not a file")
    expect(() => new LedgerFile(folder.path, reading).lines()).toThrow("is not a file")
  })
})

describe("appending", () => {
  test("makes the file, then adds to it", () => {
    ledger.append(first)
    const { ino } = statSync(path)
    ledger.append(second)
    ledger.append(third + fourth)

    expect(readFileSync(path, "utf8")).toBe(chain.text)
    expect(seen()).toEqual(["1: 1", "2: 2", "3: 3", "4: 4"])
    expect(statSync(path).ino).toBe(ino)
  })

  test("puts a file in the place of a link, and leaves what it led to", () => {
    const target = join(folder.path, "elsewhere")
    writeFileSync(target, first)
    symlinkSync(target, path)
    ledger.append(second)

    expect(lstatSync(path).isFile()).toBe(true)
    expect(readFileSync(path, "utf8")).toBe(first + second)
    expect(readFileSync(target, "utf8")).toBe(first)
  })

  test("adds to a file that can only be read, as whoever may write its directory", () => {
    writeFileSync(path, first, { mode: 0o444 })
    ledger.append(second)
    expect(readFileSync(path, "utf8")).toBe(first + second)
    expect(statSync(path).mode & 0o777).toBe(0o444)
  })

  testUnless(notRoot, "adds all of a line or nothing where the disk is full", async () => {
    using disk = new SmallDisk("2m")
    const full = new LedgerFile(join(disk.path, "ledger"), reading)
    full.append(first)
    disk.fill()
    expect(() => full.append(second + third + fourth)).toThrow("ENOSPC")
    expect(seen(full)).toEqual(["1: 1"])
    expect(full.isWhole).toBe(true)
    disk.empty()
    full.append(second)
    expect(seen(full)).toEqual(["1: 1", "2: 2"])
  })
})
