import { describe, expect, test } from "bun:test"
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import type { RunAs } from "../../../../src/execution/run-as.ts"
import { isErrno } from "../../../../src/lib/errno.ts"
import { openWorkingDirectory } from "../../../../src/service/os/programs/open-working-directory.ts"
import { temporaryFolder } from "../../../support/temporary-folder.ts"

const stranger: RunAs = { uid: 4_000_001, gid: 4_000_001, user: null, home: "/", shell: "/bin/sh" }

/** `open/inner` for everybody, `closed/inner` behind a closed door, and links to both. */
function withDirectories() {
  const folder = temporaryFolder()
  chmodSync(folder.path, 0o755)
  for (const name of ["open", "closed"]) {
    mkdirSync(join(folder.path, name, "inner"), { recursive: true })
    writeFileSync(join(folder.path, name, "inner/file"), name)
    symlinkSync(join(folder.path, name), join(folder.path, `link-to-${name}`))
  }
  chmodSync(join(folder.path, "closed"), 0o700)
  return { at: (name: string) => join(folder.path, name), [Symbol.dispose]: folder[Symbol.dispose] }
}

const judged = (cwd: string, user: RunAs | null = null) =>
  openWorkingDirectory({ cwd, cwdIsReal: true, user })
const unjudged = (cwd: string) => openWorkingDirectory({ cwd, cwdIsReal: false, user: null })

/** What this process has open that is a directory. */
function openDirectories(): string[] {
  return readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${fd}`)
      return target === "/" || target.includes("cc-executor-folder-") ? [target] : []
    } catch (error) {
      if (isErrno(error, "ENOENT")) return [] // the one by which they were listed
      throw error
    }
  })
}

describe("a place that was judged", () => {
  test("stays the same directory when its name comes to mean another", async () => {
    using directories = withDirectories()
    const place = judged(directories.at("open/inner"))
    if (!place.ok) throw new Error(place.failure.message)
    using directory = place.value

    renameSync(directories.at("open"), directories.at("moved"))
    renameSync(directories.at("closed"), directories.at("open"))
    const child = Bun.spawn(["cat", "file"], { cwd: directory.path, stdout: "pipe" })

    expect(readFileSync(directories.at("open/inner/file"), "utf8")).toBe("closed")
    expect(await child.stdout.text()).toBe("open")
  })

  test("is reached by no link, neither on the way nor at its end", () => {
    using directories = withDirectories()

    for (const name of ["link-to-open", "link-to-open/inner", "open/inner/file"])
      expect(judged(directories.at(name))).toMatchObject({ failure: { errno: "ENOTDIR" } })
    expect(judged(directories.at("missing"))).toMatchObject({ failure: { errno: "ENOENT" } })
  })

  test("is one that its user could have come to", () => {
    using directories = withDirectories()

    const open = judged(directories.at("open/inner"), stranger)
    const closed = judged(directories.at("closed/inner"), stranger)

    expect(open.ok).toBe(true)
    if (open.ok) open.value[Symbol.dispose]()
    expect(closed).toMatchObject({ failure: { errno: "EACCES" } })
    expect(!closed.ok && closed.failure.message).toContain(
      `${directories.at("closed")} is closed to`,
    )
  })

  test("is held by one descriptor, and by none once it was refused or let go", () => {
    using directories = withDirectories()
    const before = openDirectories()

    for (const name of ["missing", "open/inner/file", "link-to-open/inner", "closed/inner"])
      expect(judged(directories.at(name), stranger).ok).toBe(false)
    expect(judged(directories.at("x".repeat(5000))).ok).toBe(false)
    expect(openDirectories()).toEqual(before)

    const place = judged(directories.at("open/inner"))
    expect(openDirectories().toSorted()).toEqual(
      [...before, directories.at("open/inner")].toSorted(),
    )
    if (place.ok) place.value[Symbol.dispose]()
    expect(openDirectories()).toEqual(before)
  })
})

describe("a place about which there are no rules", () => {
  test("is named as it was asked for, through whatever links", () => {
    using directories = withDirectories()
    const cwd = directories.at("link-to-closed/inner")

    expect(unjudged(cwd)).toMatchObject({ ok: true, value: { path: cwd } })
    expect(unjudged(directories.at("missing"))).toMatchObject({ failure: { errno: "ENOENT" } })
    expect(unjudged(directories.at("open/inner/file"))).toMatchObject({
      failure: { errno: "ENOTDIR" },
    })
  })
})
