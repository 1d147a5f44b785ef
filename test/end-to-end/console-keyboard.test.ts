import { describe, expect } from "bun:test"
import { expectAccessible } from "../support/accessible.ts"
import { bash } from "../support/agent-facts.ts"
import { AgentStage } from "../support/agent-stage.ts"
import { noBrowser } from "../support/browser.ts"
import { noClaudeCode } from "../support/claude-code.ts"
import { Chromium, type ConsolePage, laptop, phone } from "../support/console-page.ts"
import type { Conversation } from "../support/conversation.ts"
import type { ModelStep } from "../support/messages-api.ts"
import { sharedConsole } from "../support/shared-console.ts"
import { testUnless } from "../support/test-unless.ts"
import { makeToken } from "../support/tokens.ts"

const timeoutMs = 120_000
const shared = sharedConsole({ env: { CC_EXECUTOR_REQUIRE_TOKEN: "true" } })

/** Browsers scroll smoothly, and a key that comes meanwhile is lost in any page. */
const scrollingEnds = `new Promise((ended) => {
  const box = document.querySelector(".rows")
  let [top, frames] = [box.scrollTop, 0]
  const look = () => {
    frames = box.scrollTop === top ? frames + 1 : 0
    top = box.scrollTop
    if (frames > 20) ended()
    else requestAnimationFrame(look)
  }
  look()
})`

const focus = "document.activeElement"

/** Signs in as somebody without a mouse does. */
async function signIn(page: ConsolePage, scope = "execute,control,read"): Promise<void> {
  const token = await makeToken(shared().service.stateDir, { name: "keys", scope })
  await page.whenText("Where to get one")
  await page.tabTo("Token")
  await page.ask("Input.insertText", { text: token }) // pasted
  await page.press("Enter")
  await page.whenText("Sign out")
}

describe("with the keyboard alone", () => {
  testUnless(
    noBrowser,
    "one signs in, starts, follows, searches and cancels",
    async () => {
      await using page = await shared().open()
      await signIn(page)
      await page.whenText("Nothing has run here yet")
      await page.tabTo("Start something")
      await page.press("Enter")
      await page.whenText("Command line")
      await page.tabTo("Command line")
      await page.type("sh -c 'seq 500; sleep 99'")
      await page.tabTo("Start")
      await page.press("Enter")
      await page.when(
        "its end is shown",
        "document.querySelector('.rows')?.textContent.includes('500')",
      )
      await page.tabTo("Output, line by line")
      await page.press("Home")
      const first = "document.querySelector('.row .text')?.textContent === '1'"
      await page.when("its beginning is shown", first)
      await page.evaluate(scrollingEnds)
      await page.press("PageDown")
      await page.when("it goes down", `!(${first})`)
      await page.evaluate(scrollingEnds)
      await page.tabTo("Search the output")
      await page.type("321")
      await page.press("Enter")
      await page.when(
        "it is found",
        "document.querySelector('.row.marked .text')?.textContent === '321'",
      )
      await page.tabTo("Cancel")
      await page.press("Enter")
      await page.whenText("none is left")
      await page.tabTo("Record")
      await page.press("Enter")
      await page.whenText("Is the record sound?")
      expect(page.complaints.filter((text) => !text.includes("401"))).toEqual([])
    },
    timeoutMs,
  )

  testUnless(
    noBrowser,
    "one gets past a terminal, into it, and out of it",
    async () => {
      await using page = await shared().open("#/start")
      await signIn(page)
      await page.tabTo("Command line")
      await page.type("cat -v")
      await page.tabTo("On a terminal, for programs like editors")
      await page.press(" ")
      await page.tabTo("Start")
      await page.press("Enter")
      await page.whenText("Fit to this window")
      // Around: what only shows does not hold whoever comes by.
      await page.tabTo("Terminal input")
      await page.tabTo("Now")

      await page.tabTo("Type into it")
      await page.press(" ")
      await page.when("it is in it", `${focus}.getAttribute("aria-label") === "Terminal input"`)
      const shows = (text: string) =>
        page.when(
          `it shows ${text}`,
          `document.querySelector(".xterm-accessibility-tree").textContent.includes("${text}")`,
        )
      await page.type("tab")
      await page.press("Tab")
      await page.type("bed")
      await page.press("Enter")
      await shows("bed")
      expect(await page.evaluate(`${focus}.getAttribute("aria-label")`)).toBe("Terminal input")
      // Once, it is for the program.
      await page.press("]", "ctrl")
      await page.type("x")
      await page.press("Enter")
      await shows("^]x")
      await page.press("]", "ctrl")
      await page.press("]", "ctrl")
      await page.when("it is out", `${focus}.type === "checkbox" && !${focus}.checked`)
      await expectAccessible(page, "terminal")
      await page.tabTo("Cancel")
      await page.press("Enter")
      await page.whenText("none is left")
    },
    timeoutMs,
  )

  testUnless(
    noBrowser ?? noClaudeCode,
    "one answers a question; its views hold up to axe",
    async () => {
      const model = ({ uses }: Conversation): ModelStep =>
        uses.length === 0
          ? bash("echo made > made")
          : { say: "# Done\n\n- *one* [two](http://a.example)" }
      await using stage = await AgentStage.set(model)
      await using browser = await Chromium.start()
      const url = await stage.service.url("/")
      const id = await stage.start({ prompt: "Make it.", labels: { name: "maker" } })
      for (const screen of [laptop, { ...phone, isDark: true }]) {
        await using page = await browser.open(`${url}#/inbox`, screen)
        await page.whenText("wants to use Bash")
        await expectAccessible(page, "question")
        await page.evaluate(`location.hash = "#/executions/${id}/session"`)
        await page.whenText("Next turn")
        await expectAccessible(page, "session that asks")
      }

      await using page = await browser.open(`${url}#/inbox`)
      await page.whenText("wants to use Bash")
      await page.tabTo("Edit…")
      await page.press("Enter")
      await page.tabTo("Back")
      await page.press("Enter")
      await page.tabTo("Allow")
      await page.press("Enter")
      await page.whenText("Nobody waits")
      await stage.whenTurnEnded(id)
      for (const screen of [{ ...laptop, isDark: true }, phone]) {
        await using after = await browser.open(`${url}#/executions/${id}/session`, screen)
        await after.when("it is drawn", "document.querySelector('.markdown em') !== null")
        await after.evaluate("document.querySelector('details.call').open = true")
        await expectAccessible(after, "session")
      }
    },
    timeoutMs,
  )
})

describe("the first screen, and the last", () => {
  testUnless(
    noBrowser,
    "holds up to axe",
    async () => {
      for (const screen of [laptop, { ...phone, isDark: true }]) {
        await using page = await shared().open("", screen)
        await page.whenText("Where to get one")
        await expectAccessible(page, "sign-in")
      }
    },
    timeoutMs,
  )

  testUnless(
    noBrowser,
    "hold up to axe with plots",
    async () => {
      await using page = await shared().open("#/service")
      await signIn(page, "admin")
      for (const theme of ["light", "dark"] as const) {
        await page.setTheme(theme)
        await page.when("it is plotted", "document.querySelector('.plot canvas') !== null")
        await expectAccessible(page, `service, ${theme}`)
      }
    },
    timeoutMs,
  )
})
