import { describe, expect } from "bun:test"
import { bash } from "../support/agent-facts.ts"
import { AgentStage } from "../support/agent-stage.ts"
import { noBrowser } from "../support/browser.ts"
import { noClaudeCode } from "../support/claude-code.ts"
import { Chromium, phone } from "../support/console-page.ts"
import type { Conversation } from "../support/conversation.ts"
import type { ModelStep } from "../support/messages-api.ts"
import { testUnless } from "../support/test-unless.ts"

const timeoutMs = 120_000

const hostile =
  "Done. **Bold**, <img src=x onerror=alert(1)><script>alert(2)</script> [a](javascript:alert(3))"

/** Asks for one command, and then says something that a page must not run. */
function model({ uses }: Conversation): ModelStep {
  return uses.length === 0 ? bash("echo made > made; cat made") : { say: hostile }
}

/** As long as there are some. */
const placeOfButtons = "document.querySelector('.next-turn .answers')?.getBoundingClientRect().top"

describe("a question of a session of the real Claude Code", () => {
  testUnless(
    noBrowser ?? noClaudeCode,
    "is answered on a phone; another page is told by whom, and the answer is followed",
    async () => {
      await using stage = await AgentStage.set(model)
      await using browser = await Chromium.start()
      const url = await stage.service.url("/")
      await using other = await browser.open(`${url}#/inbox`)
      await other.whenText("Nobody waits for an answer")
      await using page = await browser.open(`${url}#/inbox`, phone)
      const id = await stage.start({ prompt: "Make it.", labels: { name: "maker" } })

      const asked = await page.whenText("echo made > made; cat made", 50_000)
      await other.whenText("wants to use Bash")
      expect(await page.evaluate("document.title")).toBe("(1) cc-executor")
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360)
      await page.click(".question button", "Allow")
      await other.whenText(/Bash echo made > made; cat made: allowed by local/)

      expect(asked).toContain("maker")
      await stage.whenTurnEnded(id)
      await page.goTo(`${url}#/executions/${id}/session`)
      const text = await page.whenText("Done. Bold")
      expect(text).toContain("Bash: allowed by local")
      expect(
        await page.evaluate(
          "document.querySelectorAll('main :is(img, script, a[href^=java])').length",
        ),
      ).toBe(0)
      expect(await page.evaluate("document.querySelector('.markdown strong')?.textContent")).toBe(
        "Bold",
      )
      await page.note(placeOfButtons)
      await page.fill("#turn", "And now?")
      await page.click("form button", "Send")
      await page.whenText(/And now\?[\s\S]*Done\. Bold[\s\S]*$/)
      await page.whenText(/idle[\s\S]*2 of 2 turns ended/)
      // Else a press at that moment would miss its button.
      const tops = (await page.noted()).map(Number)
      expect(Math.max(...tops) - Math.min(...tops)).toBeLessThan(2)
      await page.click("form button", "End the session")
      await page.when("it is over", `document.querySelector("h1 .state")?.textContent === "done"`)
      for (const one of [page, other]) {
        expect(one.complaints).toEqual([])
        expect(await one.violations()).toEqual([])
      }
    },
    timeoutMs,
  )
})
