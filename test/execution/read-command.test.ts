import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { readCommand } from "../../src/execution/read-command.ts"

describe("a command line without shell syntax", () => {
  const table: Array<[string, string[]]> = [
    ["ls", ["ls"]],
    ["  ls \t -l  ", ["ls", "-l"]],
    ["echo 'a b'  c", ["echo", "a b", "c"]],
    ["echo a'b'\"c\"d", ["echo", "abcd"]],
    ["echo '' \"\"", ["echo", "", ""]],
    ["echo 'a\nb'", ["echo", "a\nb"]],
    ['echo "a\nb"', ["echo", "a\nb"]],
    ["echo '$HOME `x` \\ \" *'", ["echo", '$HOME `x` \\ " *']],
    ['echo "a \\" b"', ["echo", 'a " b']],
    ['echo "\\$x \\`y\\` \\\\"', ["echo", "$x `y` \\"]],
    ['echo "\\a\\n"', ["echo", "\\a\\n"]],
    ["echo \\$HOME \\* \\  \\'", ["echo", "$HOME", "*", " ", "'"]],
    ["echo a\\ b", ["echo", "a b"]],
    ['echo "it\'s" \'say "x"\'', ["echo", "it's", 'say "x"']],
    ["echo a~b c#d x=y", ["echo", "a~b", "c#d", "x=y"]],
    ["echo '~' \"#x\" \\~", ["echo", "~", "#x", "~"]],
    ["-a=b c", ["-a=b", "c"]],
    ["1A=b c", ["1A=b", "c"]],
    ["echo }]%^+,:@/!", ["echo", "}]%^+,:@/!"]],
    ["grüße 'çà' 日本", ["grüße", "çà", "日本"]],
  ]
  for (const [command, words] of table) {
    test(`is split: ${JSON.stringify(command)}`, () => {
      expect(readCommand(command)).toEqual({ ok: true, value: { kind: "words", words } })
    })
  }

  test("is what was quoted: any words come back from single quotes", () => {
    const word = fc.string({ unit: "binary" }).filter((text) => !text.includes("\0"))
    fc.assert(
      fc.property(fc.array(word, { minLength: 1 }), (words) => {
        const command = words.map(quote).join(" ")
        expect(readCommand(command)).toEqual({ ok: true, value: { kind: "words", words } })
      }),
    )
  })

  test("is split as a real shell would split it", async () => {
    const piece = fc.constantFrom(
      "a",
      "b c",
      "'x y'",
      '"p q"',
      "\\ ",
      "''",
      '"',
      "'",
      "\\\\",
      "é",
      "=",
    )
    const lines = fc.sample(fc.array(piece, { minLength: 1, maxLength: 8 }), {
      seed: 7,
      numRuns: 60,
    })
    for (const line of lines.map((pieces) => `echo ${pieces.join("")}`)) {
      const form = readCommand(line)
      if (!form.ok || form.value.kind !== "words") continue
      const script = `set -- ${line.slice(5)}; for word; do printf '%s\\0' "$word"; done`
      const shell = Bun.spawn(["sh", "-c", script], { stdout: "pipe" })
      const words = (await shell.stdout.text()).split("\0").slice(0, -1)
      expect({ line, words: form.value.words }).toEqual({ line, words: ["echo", ...words] })
    }
  })
})

describe("a command line with shell syntax", () => {
  const table: Array<[string, string]> = [
    ["a | b", "|"],
    ["a & b", "&"],
    ["a; b", ";"],
    ["a < b", "<"],
    ["a > b", ">"],
    ["(a)", "("],
    ["a)", ")"],
    ["echo $HOME", "$"],
    ["echo `x`", "`"],
    ["ls *", "*"],
    ["ls ?", "?"],
    ["ls [ab]", "["],
    ["echo {a,b}", "{"],
    ["ls ~", "~"],
    ["ls ~root", "~"],
    ["ls # all", "#"],
    ["A=b c", "A="],
    ["_a1=b", "_a1="],
    ["a\nb", "a newline"],
    ["a\r\nb", "a newline"],
    ["a \\\n b", "a newline"],
    ['echo "$HOME"', "$"],
    ['echo "`x`"', "`"],
    ['echo "a\\\nb"', "a newline"],
  ]
  for (const [command, because] of table) {
    test(`needs the shell: ${JSON.stringify(command)}`, () => {
      expect(readCommand(command)).toEqual({ ok: true, value: { kind: "shell", because } })
    })
  }
})

describe("a command line that is none", () => {
  test("is empty", () => {
    for (const command of ["", "   ", "\t"]) {
      expect(readCommand(command)).toEqual({ ok: false, failure: { kind: "empty" } })
    }
  })

  test("ends inside a quote", () => {
    for (const [command, quoteMark] of [
      ["echo 'a", "'"],
      ['echo "a', '"'],
      ['echo "a\\', '"'],
      ["echo a\\", "\\"],
    ] as const) {
      expect(readCommand(command)).toEqual({
        ok: false,
        failure: { kind: "unterminated", quote: quoteMark },
      })
    }
  })
})

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}
