import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { readCommand } from "../../src/execution/read-command.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"

/** What a shell makes of each line, all of them in one shell, in a folder with nothing in it. */
async function asShellSplits(lines: string[]): Promise<string[][]> {
  const script = lines.map((line) => `set -- ${line}\nprintf '%s\\0' "$#" "$@"\n`).join("")
  using folder = temporaryFolder()
  await using shell = Bun.spawn(["sh"], {
    cwd: folder.path,
    stdin: Buffer.from(script),
    stdout: "pipe",
    env: {},
  })
  const said = (await shell.stdout.text()).split("\0")
  return lines.map(() => {
    const count = Number(said.shift())
    return said.splice(0, count)
  })
}

describe("a command line of any characters that mean something to a shell", () => {
  const character = fc.constantFrom(...Array.from("ab é='\"\\ \t~#$`*?[{|&;<>()!%^+,:@/]}-\n"))
  const piece = fc.oneof(
    { weight: 4, arbitrary: character },
    { weight: 1, arbitrary: fc.string({ unit: character }).map((text) => `'${text}'`) },
    { weight: 1, arbitrary: fc.constantFrom('"a b"', '"\\$"', '"\\`\\\\"', "\\*", '"#"', "\\'") },
  )
  const lines = fc.sample(
    fc.array(piece, { minLength: 1, maxLength: 12 }).map((pieces) => pieces.join("")),
    { seed: 20_261_116, numRuns: 6000 },
  )

  test("is split as a real shell would, where it is split at all", async () => {
    const split = lines.flatMap((line) => {
      const form = readCommand(line)
      return form.ok && form.value.kind === "words" ? [{ line, words: form.value.words }] : []
    })

    const shell = await asShellSplits(split.map(({ line }) => line))

    expect(split.length).toBeGreaterThan(500)
    expect(split).toEqual(split.map(({ line }, at) => ({ line, words: shell[at] ?? [] })))
  })

  test("is left to the shell, or said to be unfinished, where a quote does not end", () => {
    const open = lines.filter((line) => {
      const form = readCommand(line)
      return !form.ok && form.failure.kind === "unterminated" && form.failure.quote !== "\\"
    })

    const accepted = open.slice(0, 60).filter((line) => {
      const checked = Bun.spawnSync(["sh", "-n", "-c", `set -- ${line}`], { stderr: "ignore" })
      return checked.exitCode === 0
    })

    expect(open.length).toBeGreaterThan(60)
    expect(accepted).toEqual([])
  })
})

describe("any text at all", () => {
  test("has one of four answers, and no word with a space that was not quoted", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 60 }), (text) => {
        const form = readCommand(text)
        if (!form.ok) expect(["empty", "unterminated"]).toContain(form.failure.kind)
        else if (form.value.kind === "shell") expect(form.value.because).not.toBe("")
        else if (!/['"\\]/.test(text)) {
          expect(form.value.words).toEqual(text.split(/[ \t]+/).filter((word) => word !== ""))
        }
      }),
      { numRuns: 3000 },
    )
  })

  test("of a mebibyte takes no longer than its length allows", () => {
    for (const piece of ["'", '"', "\\", "a", " ", "'' ", '"" ', "a= "]) {
      const text = piece.repeat(2 ** 20 / piece.length)
      const startedMs = performance.now()
      readCommand(text)
      expect(performance.now() - startedMs).toBeLessThan(5000)
    }
  })
})
