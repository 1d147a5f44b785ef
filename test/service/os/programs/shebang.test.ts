import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import {
  type Interpreter,
  interpretersOf,
} from "../../../../src/service/os/programs/program-files.ts"

const read = (text: string) => interpretersOf(new TextEncoder().encode(text))
const path = (absolute: string): Interpreter => ({ kind: "path", path: absolute })
const name = (bare: string): Interpreter => ({ kind: "name", name: bare })
const env = path("/usr/bin/env")

describe("the first line of a script", () => {
  const lines: [string, Interpreter[]][] = [
    ["#!/bin/sh\necho", [path("/bin/sh")]],
    ["#! /bin/sh -e\n", [path("/bin/sh")]],
    ["#!/bin/sh", [path("/bin/sh")]],
    ["#!\t/bin/sh\t-e \n", [path("/bin/sh")]],
    ["#!/usr/bin/env python3\n", [env, name("python3")]],
    ["#!/usr/bin/env -S python3 -u\n", [env, name("python3")]],
    ["#!/usr/bin/env /opt/python\n", [env, path("/opt/python")]],
  ]
  test.each(lines)("%j says what is executed", (text, interpreters) => {
    expect(read(text)).toEqual({ ok: true, value: interpreters })
  })

  test("of what is no script says nothing", () => {
    for (const text of ["", "\x7fELF", "echo #!/bin/sh", " #!/bin/sh"])
      expect(read(text)).toEqual({ ok: true, value: [] })
  })

  test("that depends on a directory, or on more than can be followed, is refused", () => {
    for (const line of [
      "#!sh",
      "#!./sh",
      "#!",
      "#!/usr/bin/env",
      "#!/usr/bin/env ./tool",
      "#!/usr/bin/env bin/tool",
      "#!/usr/bin/env -i python3",
      "#!/usr/bin/env -S -i python3",
      "#!/usr/bin/env -S PATH=/tmp python3",
      "#!/usr/bin/env -S ${HOME}/tool",
      "#!/usr/bin/env -S 'a b'",
      "#!/usr/bin/env a b",
      `#!/${"x".repeat(300)}`,
    ])
      expect(read(`${line}\n`).ok).toBe(false)
  })

  test("never leads to a relative path", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const found = read(`#!${text}`)
        if (!found.ok) return
        for (const one of found.value) {
          if (one.kind === "path") expect(one.path).toStartWith("/")
          else expect(one.name).not.toContain("/")
        }
      }),
    )
  })
})
