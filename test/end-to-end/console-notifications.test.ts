import { describe, expect } from "bun:test"
import { bash } from "../support/agent-facts.ts"
import { AgentStage } from "../support/agent-stage.ts"
import { noBrowser } from "../support/browser.ts"
import { BrowserNotes, hide } from "../support/browser-notes.ts"
import { noClaudeCode } from "../support/claude-code.ts"
import { Chromium } from "../support/console-page.ts"
import type { Conversation } from "../support/conversation.ts"
import type { ModelStep } from "../support/messages-api.ts"
import { sharedConsole } from "../support/shared-console.ts"
import { testUnless } from "../support/test-unless.ts"

const timeoutMs = 120_000
const shared = sharedConsole()

describe("a page that nobody looks at", () => {
  testUnless(
    noBrowser,
    "tells of ends in the browser, once it may, and of nothing that is looked at",
    async () => {
      await using page = await shared().open("#/inbox")
      await page.whenText("Nobody waits")
      const notes = await BrowserNotes.permit(page)
      await page.evaluate("location.hash = '#/'")
      await shared().start({ command: "echo looked at" })
      await page.whenText("looked at")
      await page.when("it is over", "document.querySelector('.executions .state.good') !== null")
      const id = await shared().start({ command: "sh -c 'read line; exit 3'", stdin: "pipe" })
      await page.whenText("read line")

      await hide(page)
      const input = new URL(`/executions/${id}/input`, shared().url)
      await fetch(input, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ data: "go on\n" }),
      })

      expect(await notes.whenShown()).toEqual([
        { title: "exit 3: sh -c 'read line; exit 3'", body: "" },
      ])
      await notes.click()
      await page.when("it is shown", `location.hash === "#/executions/${id}"`)
      expect(page.complaints).toEqual([])
    },
    timeoutMs,
  )

  testUnless(
    noBrowser,
    "was asked for it, and is shown what that is like",
    async () => {
      await using page = await shared().open("#/inbox")
      const notes = await BrowserNotes.permit(page)
      // Asked for and permitted in one press: the permission above is what a person would click.
      await page.evaluate(
        "Object.defineProperty(Notification, 'permission', { value: 'default', writable: true })",
      )
      await page.goTo(`${shared().url}#/`)
      await page.evaluate("location.hash = '#/inbox'")
      await page.click("button", "Tell me in the browser")

      await page.whenText("The browser tells you of questions and ends.")
      const [shown] = await notes.whenShown()
      expect(shown?.body).toContain("told like this")
    },
    timeoutMs,
  )

  testUnless(
    noBrowser ?? noClaudeCode,
    "tells of a question, and leads to it",
    async () => {
      const model = ({ uses }: Conversation): ModelStep =>
        uses.length === 0 ? bash("echo asked for > asked") : { say: "Done." }
      await using stage = await AgentStage.set(model)
      await using browser = await Chromium.start()
      await using page = await browser.open(await stage.service.url("/"))
      await page.whenText("Nothing has run here yet")
      const notes = await BrowserNotes.permit(page)
      await hide(page)

      const id = await stage.start({ prompt: "Say it.", labels: { name: "asker" } })

      expect(await notes.whenShown()).toEqual([
        { title: "asker has a question", body: "It wants to use Bash." },
      ])
      await notes.click()
      await page.whenText("echo asked for")
      expect(await page.evaluate("location.hash")).toStartWith(`#/inbox/${id}-`)
      expect(page.complaints).toEqual([])
    },
    timeoutMs,
  )
})
