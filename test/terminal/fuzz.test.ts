import { describe, expect, test } from "bun:test"
import { Emulator } from "../../src/terminal/emulator/emulator.ts"
import { PlainText } from "../../src/terminal/plain-text.ts"
import { QueryFilter } from "../../src/terminal/query-filter.ts"
import { byScale, seed } from "../support/scale.ts"
import { seededRandom } from "../support/seeded-random.ts"

const runs = byScale({ short: 40, full: 1000, long: 5000 })

describe("sequences that no program would write", () => {
  test("leave the emulator at work, with a screen that can be brought back", () => {
    const random = seededRandom(seed)
    for (let run = 0; run < runs; run += 1) {
      using emulator = new Emulator({ cols: 1 + random(200), rows: 1 + random(60) })
      const filter = new QueryFilter()
      const plain = new PlainText()
      for (let count = 0; count < 300; count += 1) {
        const bytes = Buffer.from(piece(random), random(20) === 0 ? "latin1" : "utf8")
        emulator.write(bytes)
        filter.filter(bytes)
        plain.add(bytes)
        if (random(60) === 0) emulator.resize({ cols: 1 + random(300), rows: 1 + random(100) })
        // What was taken for whole has left nothing open behind it.
        const isOpen = emulator.xterm.core._inputHandler._parser.currentState !== 0
        expect(isOpen && emulator.unfinishedBytes === 0).toBe(false)
      }
      // Very rarely one is too much for it: that is noted, and it goes on.
      expect(emulator.faults).toBeLessThanOrEqual(1)
      using other = new Emulator(emulator.size)
      other.restore(emulator.restoreText(1000), "")
      expect(other.faults).toBe(0)
      emulator.write(Buffer.from("\x18\x1bcalive"))
      expect(emulator.text(1000, "plain").join("")).toBe("alive") // more lines than a tiny screen
    }
  }, 120_000)

  test.each(["L", "M", "@", "P", "X", "S", "T", "I", "Z", "b", "A", "B", "C", "D"])(
    "cost no more for a count beyond the screen: %s",
    (final) => {
      using emulator = new Emulator({ cols: 80, rows: 24 })

      // Done one by one, each of these would take seconds, or gigabytes.
      emulator.write(Buffer.from(`a\x1b[2147483647${final}`.repeat(1000)))

      expect(emulator.faults).toBe(0)
    },
  )

  test("keep nothing that grows without end", () => {
    using emulator = new Emulator({ cols: 80, rows: 24 })
    emulator.write(Buffer.from("e" + "\u0301".repeat(100_000)))
    emulator.write(Buffer.from(`\x1b]2;${"t".repeat(1_000_000)}\x07after`))
    for (let link = 0; link < 10_000; link += 1) {
      emulator.write(Buffer.from(`\x1b]8;;http://example.com/${link}\x07x\x1b]8;;\x07\r`))
    }

    const links = emulator.xterm.core._oscLinkService._dataByLinkId.size
    expect(links).toBeLessThanOrEqual(2000)
    expect(emulator.restoreText(1000).length).toBeLessThan(20_000)
    expect(emulator.title).toBe("")
  })
})

const finals = "@ABCDEFGHIJKLMPSTXZ`abcdefghlmnpqrstuxyz{|}~".split("")
const numbers = "|0|1|2|3|7|80|999|65535|2147483647|4294967296|1049|1047|47|6|25".split("|")
const strings = "0;t|2;t|4;1;?|8;;http://x|10;?|11;rgb:0/0/0|52;c;?|52;c;YQ==|104|999;x".split("|")
const controls = "$qm|$qr|+q544e|1$r|q#0;2;0;0;0~~@@vv|".split("|")
const texts = [
  "日",
  "本語",
  "👩‍👩‍👧",
  "e\u0301\u0302",
  "\u200d",
  "\ufe0f",
  "\u009b6n",
  "\u0090",
  "ab c",
]
const modes = "1|3|5|6|7|12|25|45|47|66|1000|1002|1003|1004|1006|1016|1047|1048|1049|2004|2026"

function piece(random: (below: number) => number): string {
  const pick = (from: readonly string[]) => from[random(from.length)] ?? ""
  const some = (most: number) => Array.from({ length: random(most) }, () => pick(numbers))
  switch (random(10)) {
    case 0:
      return [
        `\x1b[${pick(["", "?", ">", "=", "<"])}`,
        some(4).join(pick([";", ":"])),
        pick(["", " ", "!", "$", "'", '"', "*"]),
        pick(finals),
      ].join("")
    case 1:
      return `\x1b[${some(4).join(";")}${pick(finals)}`
    case 2:
      return `\x1b${String.fromCharCode(0x20 + random(0x5f))}`
    case 3:
      return `\x1b]${pick(strings)}${pick(["\x07", "\x1b\\", "", "\x18"])}`
    case 4:
      return `\x1bP${pick(controls)}${pick(["\x1b\\", "", "\x07"])}`
    case 5:
      return String.fromCharCode(random(32))
    case 6:
      return `\x1b[?${pick(modes.split("|"))}${pick(["h", "l"])}`
    case 7:
      return "x".repeat(random(300)) + "\r\n".repeat(random(9))
    case 8:
      return `\x1b[${random(120)};${random(120)}${pick(["H", "f", "r"])}`
    default:
      return pick(texts)
  }
}
