import { describe, expect } from "bun:test"
import { expectAccessible } from "../support/accessible.ts"
import { noBrowser } from "../support/browser.ts"
import { laptop, phone, type Screen } from "../support/console-page.ts"
import { sharedConsole } from "../support/shared-console.ts"
import { testUnless } from "../support/test-unless.ts"

const timeoutMs = 60_000
const shared = sharedConsole()

const esc = "\\x1b"
const markup = "<img src=x onerror=window.hit=1><script>window.hit=1</script>"

/** All that a program might write to do something to whoever looks. */
const torture = [
  `${esc}[31mred${esc}[0m ${esc}[1;38;5;202morange${esc}[48;2;1;2;3mwide${esc}[m plain`,
  `progress 1%%\\rprogress 100%%${esc}[K`,
  `${esc}[2J${esc}[H${esc}[10Aup and ${esc}[5;5Hover`,
  `${esc}]0;a title\\x07titled`,
  `${esc}]8;;javascript:window.hit=1\\x07linked${esc}]8;;\\x07`,
  `${esc}]52;c;aGl0\\x07clip ${esc}P1;2|x${esc}\\\\ ${esc}[6n${esc}[c asked`,
  "bell \\x07 nul \\x00 del \\x7f back\\b\\bspace",
  "\\xd7\\xa9\\xd7\\x9c\\xd7\\x95\\xd7\\x9d right to left \\xe2\\x80\\xae overridden",
  "invalid \\xff\\xfe\\xc3( utf-8",
  markup,
  "last of these",
].join("\\n")

describe("what programs and people write", () => {
  testUnless(
    noBrowser,
    "is text: nothing of it runs, leaves its place or is fetched",
    async () => {
      const { url } = shared()
      const name = `"><svg onload=window.hit=1> ${markup}`
      const big = "head -c 1000000 /dev/zero | tr '\\0' x; echo; echo after the long line"
      const id = await shared().start({
        command: `printf '${torture}\\n'; ${big}`,
        shell: true,
        labels: { name, [markup]: "javascript:window.hit=1" },
      })
      await using page = await shared().open(`#/executions/${id}`)
      const texts = "[...document.querySelectorAll('.row .text')].map((row) => row.textContent)"
      await page.when(
        "all rows are there",
        `${texts}.length === 13 && !${texts}.some((text) => text.startsWith("…"))`,
      )
      const rows: string[] = await page.evaluate(texts)

      expect(rows.slice(0, 4)).toEqual([
        "red orangewide plain",
        "progress 100%",
        "up and over",
        "titled",
      ])
      expect(rows[4]).toBe("linked")
      expect(rows[5]).toBe("clip   asked")
      expect(rows[6]).toContain("nul ␀ del ␡")
      expect(rows[7]).toContain(String.raw`\u202e overridden`)
      expect(rows[8]).toContain("\u{fffd}")
      expect(rows[9]).toBe(markup)
      expect(rows[11]).toMatch(/^x{8192} … at least [\d,]+ characters more on this line$/)
      await page.goTo(url)
      await page.whenText("<svg onload")
      await page.goTo(`${url}#/executions/${id}/record`)
      await page.whenText("Hash of everything")
      expect(await page.evaluate("window.hit ?? null")).toBe(null)
      expect(await page.evaluate("document.title")).toBe("cc-executor")
      expect(
        await page.evaluate("document.querySelectorAll('main :is(img, svg, script)').length"),
      ).toBe(0)
      expect(await page.violations()).toEqual([])
      expect(page.complaints).toEqual([])
      const own = new URL(url).host
      const asked = page.requested.filter((address) => !address.startsWith("data:"))
      expect(asked.filter((address) => new URL(address).host !== own)).toEqual([])
    },
    timeoutMs,
  )
})

const screens: [string, Screen][] = [
  ["light", laptop],
  ["dark", { ...laptop, isDark: true }],
  ["on a phone", phone],
  ["dark, on a phone", { ...phone, isDark: true }],
]

describe("every view", () => {
  for (const [name, screen] of screens) {
    testUnless(
      noBrowser,
      `is accessible and fits, ${name}`,
      async () => {
        const colours =
          'for i in 0 1 2 3 4 5 6 7; do echo -e "\\e[3${i}mcolour\\e[9${i}m bright\\e[0m"; done'
        const ended = await shared().start({
          command: colours,
          shell: true,
          labels: { kind: "sample" },
        })
        const live = await shared().start({ command: "sh -c 'echo hi; sleep 1000'", stdin: "pipe" })
        await using page = await shared().open("", screen)
        await page.whenText("Ended")
        await expectAccessible(page, "now")
        const places = {
          [`#/executions/${ended}`]: "colour bright",
          [`#/executions/${ended}/record`]: "Is the record sound?",
          [`#/executions/${live}`]: "hi",
          "#/start": "Command line",
          "#/inbox": "Nobody waits",
          "#/work": "Work",
          "#/service": "Service",
          "#/nowhere": "Nothing here",
        }
        for (const [place, text] of Object.entries(places)) {
          await page.evaluate(`location.hash = ${JSON.stringify(place)}`)
          const shown = "document.querySelector('main:has(h1)')?.innerText"
          await page.when(`${place} is drawn`, `${shown}?.includes(${JSON.stringify(text)})`)
          await expectAccessible(page, place)
        }
      },
      timeoutMs,
    )
  }
})
