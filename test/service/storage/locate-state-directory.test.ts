import { describe, expect, test } from "bun:test"
import {
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import {
  locateStateDirectory,
  makeOwnDirectory,
} from "../../../src/service/storage/locate-state-directory.ts"
import { temporaryFolder } from "../../support/temporary-folder.ts"
import { notRoot, testUnless } from "../../support/test-unless.ts"

const stranger = 12_345

describe("a state directory", () => {
  test("is found behind links of one's own, however they lead there", () => {
    using folder = temporaryFolder()
    const at = (name: string) => join(folder.path, name)
    mkdirSync(at("real/state"), { recursive: true, mode: 0o700 })
    symlinkSync(at("real"), at("absolute"))
    symlinkSync("./real/../absolute", at("relative"))

    const located = locateStateDirectory(at("relative/state"))

    expect(located).toEqual({ ok: true, value: { kind: "own", path: at("real/state") } })
  })

  test("may be absent, and is made for its owner only", () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "a/b/state")

    expect(locateStateDirectory(path)).toMatchObject({ value: { kind: "absent", path } })
    expect(makeOwnDirectory(path)).toEqual({ ok: true, value: path })
    for (const name of ["a", "a/b", "a/b/state"]) {
      expect(statSync(join(folder.path, name)).mode & 0o777).toBe(0o700)
    }
  })

  test("is not a file, and not below one", () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "file")
    writeFileSync(path, "")

    for (const one of [path, join(path, "state")]) {
      const made = makeOwnDirectory(one)
      expect(made).toHaveProperty("failure", expect.stringContaining("is not a directory"))
    }
  })

  test("is not behind links without end", () => {
    using folder = temporaryFolder()
    symlinkSync("loop", join(folder.path, "loop"))

    const located = locateStateDirectory(join(folder.path, "loop"))
    expect(located).toHaveProperty("failure", expect.stringContaining("too many links"))
  })
})

describe("for root", () => {
  testUnless(notRoot, "a directory of somebody else's is a stranger's", async () => {
    using folder = temporaryFolder()
    chownSync(folder.path, stranger, stranger)

    const located = locateStateDirectory(folder.path)

    expect(located).toMatchObject({ value: { kind: "foreign", uid: stranger } })
    expect(makeOwnDirectory(folder.path)).toHaveProperty(
      "failure",
      expect.stringContaining(`belongs to user ${stranger}, and this is user 0`),
    )
  })

  testUnless(notRoot, "a stranger's link leads into the stranger's directories only", async () => {
    using folder = temporaryFolder()
    const at = (name: string) => join(folder.path, name)
    for (const name of ["roots", "theirs"]) mkdirSync(at(name))
    for (const name of ["roots", "theirs"]) symlinkSync(name, at(`to-${name}`))
    chownSync(at("theirs"), stranger, stranger)
    for (const name of ["to-roots", "to-theirs"]) lchownSync(at(name), stranger, stranger)

    const toRoots = locateStateDirectory(at("to-roots"))
    const missing = locateStateDirectory(at("to-roots/new"))

    expect(toRoots).toHaveProperty("failure", expect.stringContaining("a link of user 12345"))
    expect(missing.ok).toBe(false)
    expect(makeOwnDirectory(at("to-roots/new")).ok).toBe(false)
    expect(readdirSync(at("roots"))).toEqual([])
    expect(locateStateDirectory(at("to-theirs"))).toMatchObject({ value: { kind: "foreign" } })
  })

  testUnless(notRoot, "none is made in a directory of somebody else's", async () => {
    using folder = temporaryFolder()
    chownSync(folder.path, stranger, stranger)
    const path = join(folder.path, "deep/state")

    const made = makeOwnDirectory(path)

    expect(made).toHaveProperty("failure", expect.stringContaining("a directory of user 12345"))
    expect(existsSync(join(folder.path, "deep"))).toBe(false)
  })
})
