import { describe, expect, test } from "bun:test"
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { programsFor } from "../../../../src/service/os/programs/programs.ts"
import { withoutDescriptors } from "../../../support/without-descriptors.ts"

const programs = programsFor(null)

function withPrograms(): Disposable & { folder: string; path: string } {
  const folder = mkdtempSync(join(tmpdir(), "cc-executor-programs-"))
  for (const name of ["first", "second"]) mkdirSync(join(folder, name))
  const executable = (path: string, mode = 0o755) => {
    writeFileSync(join(folder, path), "#!/bin/sh\n")
    chmodSync(join(folder, path), mode)
  }
  executable("first/tool", 0o644)
  executable("second/tool")
  executable("second/only")
  executable("first/data", 0o644)
  mkdirSync(join(folder, "first/folder"))
  symlinkSync(join(folder, "second/only"), join(folder, "second/link"))
  const path = `${join(folder, "first")}:${join(folder, "second")}`
  return { folder, path, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) }
}

describe("a program", () => {
  test("is not called missing where nothing could be opened", () => {
    using _short = withoutDescriptors()

    const found = programs.locate("sh", "/usr/bin:/bin", "/")

    expect(found).toMatchObject({ ok: false, failure: { errno: "EMFILE" } })
  })

  test("is found along PATH, past files that cannot be executed", () => {
    using places = withPrograms()
    const path = join(places.folder, "second/tool")

    expect(programs.locate("tool", places.path, "/")).toEqual({
      ok: true,
      value: { path, realPath: path },
    })
  })

  test("is known by what its path really leads to", () => {
    using places = withPrograms()

    expect(programs.locate("link", places.path, "/")).toMatchObject({
      value: { realPath: join(places.folder, "second/only") },
    })
  })

  test("with a slash is a path, seen from the working directory", () => {
    using places = withPrograms()

    for (const name of [join(places.folder, "second/only"), "second/only", "./second/only"]) {
      expect(programs.locate(name, "", places.folder)).toMatchObject({
        value: { path: join(places.folder, "second/only") },
      })
    }
  })

  test("in an empty part of PATH is one of the working directory", () => {
    using places = withPrograms()
    const cwd = join(places.folder, "second")

    expect(programs.locate("only", ":/nowhere", cwd)).toMatchObject({ ok: true })
  })

  test("that is not there, or may not be executed, is told apart", () => {
    using places = withPrograms()
    const errnoOf = (name: string) => {
      const found = programs.locate(name, places.path, places.folder)
      return found.ok ? "found" : found.failure.errno
    }

    expect(errnoOf("nothing-like-it")).toBe("ENOENT")
    expect(errnoOf("first/nothing")).toBe("ENOENT")
    expect(errnoOf("first/data/below")).toBe("ENOENT")
    expect(errnoOf("data")).toBe("EACCES")
    expect(errnoOf("first/folder")).toBe("EACCES")
    expect(errnoOf("")).toBe("ENOENT")
  })
})
