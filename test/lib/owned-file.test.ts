import { describe, expect, test } from "bun:test"
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import {
  checkOwnedDirectory,
  checkOwnedFile,
  closeToOthers,
  createOwned,
  openOrCreateOwned,
  openOwned,
  openRegular,
  pinOwnedSocket,
  readOwned,
  removeOwned,
  renameOwned,
  replaceOwned,
} from "../../src/lib/owned-file.ts"
import { UntrustedFileError } from "../../src/lib/untrusted-file.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { notRoot, testUnless } from "../support/test-unless.ts"

const mostBytes = 1000
const brief = { durable: false } as const

/** Everything that can be done to a file, by its path. */
const uses: Record<string, (path: string) => void> = {
  openOwned: (path) => openOwned(path, "read")[Symbol.dispose](),
  "openOwned to change": (path) => openOwned(path, "change")[Symbol.dispose](),
  "openOwned to append": (path) => openOwned(path, "append")[Symbol.dispose](),
  openOrCreateOwned: (path) => openOrCreateOwned(path, "append")[Symbol.dispose](),
  readOwned: (path) => readOwned(path, mostBytes),
  checkOwnedFile: (path) => checkOwnedFile(path),
  openRegular: (path) => openRegular(path),
}

describe.each(Object.entries(uses))("%s", (_, use) => {
  test.each([
    ["a link", (path: string, other: string) => symlinkSync(other, path)],
    ["a link to nothing", (path: string, other: string) => symlinkSync(`${other}-not`, path)],
    ["a link to a directory", (path: string) => symlinkSync("/etc", path)],
    ["a named pipe", (path: string) => Bun.spawnSync(["mkfifo", path])],
    ["a directory", (path: string) => mkdirSync(path)],
    ["a socket", listenAt],
  ])("refuses %s, and changes nothing", (_kind, plant) => {
    using folder = temporaryFolder()
    const other = join(folder.path, "other")
    writeFileSync(other, "precious")
    const path = join(folder.path, "file")
    plant(path, other)

    expect(() => use(path)).toThrow(UntrustedFileError)
    expect(readFileSync(other, "utf8")).toBe("precious")
    expect(existsSync(`${other}-not`)).toBe(false)
  })

  test("refuses a file behind a link on the way", () => {
    using folder = temporaryFolder()
    mkdirSync(join(folder.path, "real/deep"), { recursive: true })
    writeFileSync(join(folder.path, "real/deep/file"), "")
    symlinkSync("real", join(folder.path, "link"))

    if (use === uses["openRegular"]) return // for directories that were checked before
    expect(() => use(join(folder.path, "link/deep/file"))).toThrow(UntrustedFileError)
    expect(() => use(join(folder.path, "real/deep/file"))).not.toThrow()
  })

  testUnless(notRoot, "refuses a file of somebody else's", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "file")
    writeFileSync(path, "")
    chownSync(path, 12_345, 12_345)

    if (use === uses["openRegular"]) return // for directories that were checked before
    expect(() => use(path)).toThrow("belongs to user 12345")
  })
})

describe("in a directory of somebody else's", () => {
  testUnless(notRoot, "files are read, and nothing is changed", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "file")
    writeFileSync(path, "theirs")
    for (const one of [path, folder.path]) chownSync(one, 12_345, 12_345)
    const missing = join(folder.path, "new")

    expect(readOwned(path, mostBytes)?.toString()).toBe("theirs")
    expect(() => openOwned(path, "change")).toThrow("user 12345")
    expect(() => createOwned(missing)).toThrow("user 12345")
    expect(() => replaceOwned(path, () => undefined, brief)).toThrow("user 12345")
    expect(() => removeOwned(path)).toThrow("user 12345")
    expect(readdirSync(folder.path)).toEqual(["file"])
  })
})

describe("a file of one's own", () => {
  test("is created once, for its owner only", () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "file")

    createOwned(path)[Symbol.dispose]()

    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(() => createOwned(path)).toThrow("EEXIST")
  })

  test("is replaced as a whole, whatever stood in its place or in its draft's", () => {
    using folder = temporaryFolder()
    const other = join(folder.path, "other")
    const path = join(folder.path, "file")
    writeFileSync(other, "precious")
    symlinkSync(other, path)
    symlinkSync(other, `${path}.new`)

    replaceOwned(path, (fd) => writeFileSync(fd, "new"), { durable: true })

    expect(readFileSync(path, "utf8")).toBe("new")
    expect(readFileSync(other, "utf8")).toBe("precious")
    expect(readdirSync(folder.path).toSorted()).toEqual(["file", "other"])
  })

  test("stays as it was when writing fails", () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "file")
    writeFileSync(path, "old")
    const write = () => {
      throw new Error("no")
    }

    expect(() => replaceOwned(path, write, brief)).toThrow("no")
    expect(readFileSync(path, "utf8")).toBe("old")
    expect(readdirSync(folder.path)).toEqual(["file"])
  })

  test("is not read when it is larger than it can be", () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "file")
    writeFileSync(path, "")
    truncateSync(path, 2 ** 40)

    expect(() => readOwned(path, mostBytes)).toThrow("larger than 1000 bytes")
  })

  test("goes on being the one that was opened", () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "file")
    writeFileSync(path, "first")
    using file = openOwned(path, "read")
    renameSync(path, `${path}.old`)
    writeFileSync(path, "second")

    const bytes = Buffer.alloc(9)
    expect(bytes.toString("utf8", 0, readSync(file.fd, bytes, 0, 9, 0))).toBe("first")
  })

  test("is renamed in its directory, over a link and not over what that leads to", () => {
    using folder = temporaryFolder()
    const [from, to, other] = ["from", "to", "other"].map((name) => join(folder.path, name))
    if (from === undefined || to === undefined || other === undefined) throw new Error("no path")
    writeFileSync(from, "new")
    writeFileSync(other, "kept")
    symlinkSync(other, to)

    renameOwned(from, to)

    expect(readFileSync(to, "utf8")).toBe("new")
    expect(readFileSync(other, "utf8")).toBe("kept")
    expect(readdirSync(folder.path).toSorted()).toEqual(["other", "to"])
  })

  test("that is missing is none, and is not removed", () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "file")

    expect(readOwned(path, mostBytes)).toBeNull()
    expect(checkOwnedFile(path)).toBe(false)
    expect(removeOwned(path)).toBe(false)
    expect(() => openOwned(path, "read")).toThrow("ENOENT")
  })
})

describe("a directory, and a socket", () => {
  test("is closed to others, unless it is a link", () => {
    using folder = temporaryFolder()
    const directory = join(folder.path, "directory")
    const link = join(folder.path, "link")
    mkdirSync(directory, { mode: 0o755 })
    symlinkSync(directory, link)

    expect(() => closeToOthers(link)).toThrow(UntrustedFileError)
    expect(statSync(directory).mode & 0o777).toBe(0o755)
    closeToOthers(directory)
    expect(statSync(directory).mode & 0o777).toBe(0o700)
  })

  test("must be that, and no link to one", () => {
    using folder = temporaryFolder()
    const at = (name: string) => join(folder.path, name)
    mkdirSync(at("directory"))
    listenAt(at("socket"))
    symlinkSync("directory", at("directory-link"))
    symlinkSync("socket", at("socket-link"))

    expect(() => checkOwnedDirectory(at("directory"))).not.toThrow()
    expect(() => pinOwnedSocket(at("socket"))[Symbol.dispose]()).not.toThrow()
    expect(() => checkOwnedDirectory(at("directory-link"))).toThrow("is a symbolic link")
    expect(() => pinOwnedSocket(at("socket-link"))).toThrow("is a symbolic link")
    expect(() => pinOwnedSocket(at("directory"))).toThrow("is a directory, not a socket")
  })
})

/** A dead one: its file stays. */
function listenAt(path: string): void {
  const bind = "import socket,sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])"
  expect(Bun.spawnSync(["/usr/bin/python3", "-c", bind, path]).exitCode).toBe(0)
}
