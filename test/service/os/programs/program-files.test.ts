import { afterAll, describe, expect, test } from "bun:test"
import { chmodSync, realpathSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { programsFor } from "../../../../src/service/os/programs/programs.ts"
import { BypassGround } from "../../../support/bypass-ground.ts"

const ground = new BypassGround()
afterAll(() => ground[Symbol.dispose]())
const programs = programsFor(null)
const path = `${ground.bin}:/usr/bin:/bin`

function filesOf(name: string) {
  const found = programs.locate(name, path, "/")
  return found.ok ? programs.filesOf(found.value, path) : expect.unreachable(found.failure.message)
}

const pathsOf = (name: string) => {
  const files = filesOf(name)
  return files.ok ? files.value.map(({ realPath }) => realPath) : [files.failure]
}
const script = (name: string, interpreter: string) =>
  ground.script(join(ground.bin, name), interpreter, "true")

describe("the files of a program", () => {
  test("are its own, where a link leads", () => {
    expect(pathsOf("sh")).toEqual([realpathSync("/bin/sh")])
  })

  test("and those of its interpreters, one after the other", () => {
    const plain = script("plain", "/bin/sh")
    const nested = script("nested", plain)
    const byEnv = script("by-env", "/usr/bin/env plain")

    const [sh, env] = [realpathSync("/bin/sh"), realpathSync("/usr/bin/env")]
    expect(pathsOf("plain")).toEqual([plain, sh])
    expect(pathsOf("nested")).toEqual([nested, plain, sh])
    expect(pathsOf("by-env")).toEqual([byEnv, env, plain, sh])
  })

  test("cannot be told where an interpreter is missing, or leads to itself", () => {
    script("lost", "/no/such/interpreter")
    script("circle", join(ground.bin, "circle"))
    script("relative", "sh")
    for (const name of ["lost", "circle", "relative"]) expect(filesOf(name).ok).toBe(false)
  })

  test("have another identity after any change, even one that hides its time", () => {
    const changed = script("changed", "/bin/sh")
    const before = filesOf("changed")
    expect(filesOf("changed")).toEqual(before)

    writeFileSync(changed, "#!/bin/sh\neurt\n")
    utimesSync(changed, 0, 0)
    const after = filesOf("changed")
    chmodSync(changed, 0o775)

    expect(after).not.toEqual(before)
    expect(filesOf("changed")).not.toEqual(after)
  })
})
