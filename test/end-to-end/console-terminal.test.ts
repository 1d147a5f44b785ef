import { describe, expect } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { noBrowser } from "../support/browser.ts"
import { Chromium, type ConsolePage } from "../support/console-page.ts"
import { Service } from "../support/service.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { testUnless } from "../support/test-unless.ts"

const timeoutMs = 60_000
const noVim = Bun.which("vim") ?? Bun.which("vi") ?? Bun.which("vim.tiny")

/** What the terminal shows, row by row, as it tells those who cannot see it. */
const screenText = "document.querySelector('.xterm-accessibility-tree')?.textContent ?? ''"

function whenScreen(page: ConsolePage, text: string): Promise<void> {
  return page.when(
    `the terminal shows ${text}`,
    `(${screenText}).includes(${JSON.stringify(text)})`,
  )
}

describe("a terminal execution", () => {
  testUnless(
    noBrowser,
    "asks for its cursor, and is answered once, however many pages show it",
    async () => {
      await using service = await Service.start()
      await using browser = await Chromium.start()
      await using page = await browser.open(`${await service.url("/")}#/start`)
      const ask = "stty -echo -icanon; printf 'asked\\033[6n\\n'; read -r -d R answer"
      const script = `${ask}; echo "answered \${answer#?}"; cat -v`
      await page.fill("#command", `bash -c '${script.replaceAll("'", "'\\''")}'`)
      await page.click("input[name=terminal]")
      await page.click("form button", "Start")
      await whenScreen(page, "answered [1;6")
      await using again = await browser.open(await page.evaluate("location.href"))
      await whenScreen(again, "answered [1;6")

      for (const one of [page, again]) await one.click(".terminal input[type=checkbox]")
      for (const key of "typed") await page.press(key)

      await whenScreen(page, "typed")
      await whenScreen(again, "typed")
      expect(await page.evaluate(screenText)).not.toContain("^[")
    },
    timeoutMs,
  )

  testUnless(
    noBrowser ?? (noVim === null ? "needs vim" : null),
    "runs an editor: typed into, resized, left; and watched by another page",
    async () => {
      using folder = temporaryFolder()
      const file = join(folder.path, "written")
      await using service = await Service.start()
      await using browser = await Chromium.start()
      const url = await service.url("/")
      await using page = await browser.open(`${url}#/start`)
      await page.fill("#command", `${noVim} -u NONE ${file}`)
      await page.click("input[name=terminal]")
      await page.click("form button", "Start")
      await whenScreen(page, "~")
      await using watcher = await browser.open(await page.evaluate("location.href"))
      await whenScreen(watcher, "~")

      await page.click(".terminal input[type=checkbox]")
      for (const key of "iwords typed here") await page.press(key)
      await whenScreen(page, "words typed here")
      await whenScreen(watcher, "words typed here")
      await page.click("button", "Fit to this window")
      for (const one of [page, watcher]) {
        const rows = "document.querySelectorAll('.xterm-rows > div').length"
        await one.when("it has another size", `${rows} !== 24`)
      }
      await page.evaluate("document.querySelector('.xterm-helper-textarea').focus()")
      await page.press("Escape")
      for (const key of ":wq") await page.press(key)
      await page.press("Enter")
      await page.when("it is left", `document.querySelector("h1 .state")?.textContent === "done"`)

      expect(readFileSync(file, "utf8")).toBe("words typed here\n")
      for (const one of [page, watcher]) {
        expect(one.complaints).toEqual([])
        expect(await one.violations()).toEqual([])
      }
    },
    timeoutMs,
  )
})
