import { describe, expect, test } from "bun:test"
import { symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { readGivenFile, readRegularFile } from "../../src/lib/read-given-file.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"

describe("a file that somebody else has named", () => {
  test("is read, by a link too", () => {
    using folder = temporaryFolder()
    const [path, link] = [join(folder.path, "file"), join(folder.path, "link")]
    const text = "é\n".repeat(100_000)
    writeFileSync(path, text)
    symlinkSync(path, link)

    expect(readRegularFile(path, 300_000)).toBe(text)
    expect(readRegularFile(link, 300_000)).toBe(text)
    expect(() => readRegularFile(path, 299_999)).toThrow("is larger than 299999 bytes")
  })

  test("keeps nobody waiting as a pipe, and ends where it has no end", () => {
    using folder = temporaryFolder()
    const pipe = join(folder.path, "pipe")
    Bun.spawnSync(["mkfifo", pipe])

    expect(() => readRegularFile(pipe, 1000)).toThrow("is not a regular file")
    expect(() => readRegularFile("/dev/zero", 1000)).toThrow("is not a regular file")
    expect(() => readRegularFile(folder.path, 1000)).toThrow("is not a regular file")
    expect(() => readRegularFile(join(folder.path, "none"), 1000)).toThrow("ENOENT")
  })
})

describe("a file that whoever runs this has named", () => {
  test("may be a pipe, and ends where it has no end", async () => {
    using folder = temporaryFolder()
    const pipe = join(folder.path, "pipe")
    Bun.spawnSync(["mkfifo", pipe])
    await using _writer = Bun.spawn(["sh", "-c", `echo text >"$1"`, "sh", pipe])

    expect(readGivenFile(pipe, 1000)).toBe("text\n")
    expect(() => readGivenFile("/dev/zero", 1_000_000)).toThrow("is larger than 1000000 bytes")
  })
})
