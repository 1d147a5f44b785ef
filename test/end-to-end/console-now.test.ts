import { describe, expect } from "bun:test"
import { z } from "zod"
import { noBrowser } from "../support/browser.ts"
import { Chromium, laptop, phone } from "../support/console-page.ts"
import { Service } from "../support/service.ts"
import { startExecution } from "../support/shared-console.ts"
import { testUnless } from "../support/test-unless.ts"

const timeoutMs = 60_000
const List = z.object({ executions: z.array(z.object({ command: z.string() })) })

describe("a form whose answer is lost", () => {
  testUnless(
    noBrowser,
    "starts nothing twice when it is sent again, and something else when it was changed",
    async () => {
      // Over plain HTTP, from elsewhere: there, browsers withhold some of what they have.
      const name = "console.example"
      await using own = await Service.start({ flags: { "allowed-hosts": name } })
      await using elsewhere = await Chromium.start([name])
      const url = await own.url("/")
      const { port } = new URL(url)
      await using page = await elsewhere.open(`http://${name}:${port}/#/start`)
      const started = async () => {
        const answer = await fetch(new URL("/executions", url))
        return List.parse(await answer.json()).executions.map(({ command }) => command)
      }
      await page.fill("#command", "echo once")
      await page.loseAnswers("*/executions")
      await page.click("form button", "Start")
      await page.whenText("The connection was lost before an answer came.")
      expect(await started()).toEqual(["echo once"])
      await page.click("form button", "Start")
      await page.when("it is tried", "!document.querySelector('form button').disabled")
      await page.loseNoAnswers()
      await page.click("form button", "Start")
      await page.when("it is shown", "location.hash.startsWith('#/executions/')")
      expect(await started()).toEqual(["echo once"])

      await page.evaluate("location.hash = '#/start'")
      await page.fill("#command", "echo twice")
      await page.loseAnswers("*/executions")
      await page.click("form button", "Start")
      await page.whenText("The connection was lost before an answer came.")
      await page.fill("#command", "echo changed")
      await page.loseNoAnswers()
      await page.click("form button", "Start")
      await page.when("it is shown", "location.hash.startsWith('#/executions/')")
      expect(await started()).toEqual(["echo changed", "echo twice", "echo once"])
    },
    timeoutMs,
  )
})

describe("the list", () => {
  testUnless(
    noBrowser,
    "shows the labels of long commands, and how much there is of everything",
    async () => {
      await using own = await Service.start({ flags: { "max-executions": "1" } })
      const url = await own.url("/")
      const long = `echo ${"word ".repeat(100)}`
      await startExecution(url, { command: long, labels: { name: "titled", kind: "long" } })
      await startExecution(url, { command: "false" })
      await startExecution(url, { command: "sleep 1000" })
      await startExecution(url, { command: "sleep 1001" })
      await using browser = await Chromium.start()
      for (const screen of [laptop, phone]) {
        await using page = await browser.open(url, screen)
        await page.whenText(/1 running\s+1 queued\s+2 ended today, 1 with failures/)

        const inView = await page.evaluate(`[...document.querySelectorAll(".what b, .what .label")]
          .map((one) => one.getBoundingClientRect())
          .every(({ left, right, width }) => width > 20 && left >= 0 && right < innerWidth)`)
        expect(inView).toBe(true)
        const wide = await page.evaluate("document.documentElement.scrollWidth > innerWidth")
        expect(wide).toBe(false)
        expect(page.complaints).toEqual([])
      }
    },
    timeoutMs,
  )
})
