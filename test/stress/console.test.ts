import { describe, expect } from "bun:test"
import { residentBytes } from "../../src/service/os/proc.ts"
import { noBrowser } from "../support/browser.ts"
import { Chromium, type ConsolePage } from "../support/console-page.ts"
import { byScale } from "../support/scale.ts"
import { Service } from "../support/service.ts"
import { startExecution } from "../support/shared-console.ts"
import { testUnless } from "../support/test-unless.ts"

const timeoutMs = 300_000
const mebibyte = 1024 * 1024

/** Milliseconds until something in the page is so, since it was caused. */
async function until(
  page: ConsolePage,
  cause: () => Promise<void>,
  expression: string,
): Promise<number> {
  const startedMs = performance.now()
  await cause()
  await page.when(expression, expression)
  return Math.round(performance.now() - startedMs)
}

/** In the page: how often, in so many milliseconds, scrolling up did not end the following. */
const scrolledAwayInVain = `async (forMs) => {
  const follow = document.querySelector(".transcript .check input")
  const box = document.querySelector(".rows")
  const followed = follow.checked
  const endMs = performance.now() + forMs
  let lost = 0
  while (performance.now() < endMs) {
    if (!follow.checked) follow.click()
    await new Promise((done) => setTimeout(done, 20))
    box.scrollTop = box.scrollHeight / 2
    await new Promise((done) => setTimeout(done, 60))
    if (follow.checked) lost += 1
  }
  if (follow.checked !== followed) follow.click()
  return lost
}`

describe("`yes` at full speed in an execution that is looked at", () => {
  testUnless(
    noBrowser,
    "leaves the page usable, and both memories as they were",
    async () => {
      const seconds = byScale({ short: 5, full: 30, long: 30 })
      await using service = await Service.start()
      await using browser = await Chromium.start()
      const url = await service.url("/")
      const id = await startExecution(url, { command: "yes" })
      await using page = await browser.open(`${url}#/executions/${id}`)
      await page.when("it flows", "document.querySelectorAll('.row').length > 10")
      await page.evaluate(`
        window.longTasks = []
        const note = (list) => longTasks.push(...list.getEntries().map((one) => one.duration))
        new PerformanceObserver(note)
          .observe({ entryTypes: ["longtask"] })`)
      await Bun.sleep(2000) // until everything that is kept has come once
      const before = await page.heapBytes()
      const answersMs: number[] = []
      let lostScrolls = 0
      for (let second = 0; second < seconds; second += 1) {
        const checked = second % 2 === 0 ? "!" : ""
        answersMs.push(
          await until(
            page,
            () => page.click(".transcript .check input"),
            `${checked}document.querySelector('.transcript .check input').checked`,
          ),
        )
        lostScrolls += await page.evaluate(`(${scrolledAwayInVain})(1000)`)
      }
      const after = await page.heapBytes()
      const lines = await page.evaluate(
        "Number([...document.querySelectorAll('.number')].at(-1).textContent)",
      )
      const longTasks: number[] = await page.evaluate("longTasks")
      await page.click("button", "Cancel")
      await page.whenText("none is left")

      const worst = Math.round(Math.max(0, ...longTasks))
      console.log(
        `${seconds} s of yes: ${lines} lines, ${longTasks.length} long tasks, ` +
          `the longest ${worst} ms; ` +
          `clicks answered after ${Math.max(...answersMs)} ms at worst; heap ` +
          `${Math.round(before / mebibyte)} → ${Math.round(after / mebibyte)} MiB, gateway ` +
          `${Math.round((residentBytes(service.gatewayPid) ?? 0) / mebibyte)} MiB`,
      )
      expect(lostScrolls).toBe(0)
      expect(Math.abs(after - before)).toBeLessThan(20 * mebibyte)
      expect(residentBytes(service.gatewayPid) ?? 0).toBeLessThan(200 * mebibyte)
      expect(page.complaints).toEqual([])
    },
    timeoutMs,
  )
})

describe("a long transcript", () => {
  testUnless(
    noBrowser,
    "opens at its end, is jumped in, and is searched",
    async () => {
      const lines = byScale({ short: 1_000_000, full: 10_000_000, long: 10_000_000 })
      await using service = await Service.start()
      await using browser = await Chromium.start()
      const url = await service.url("/")
      const text = "x".repeat(92)
      const script = `{ for (i = 1; i <= ${lines}; i++) printf "%010d ${text}\\n", i }`
      const id = await startExecution(url, {
        command: `awk 'BEGIN ${script}'`,
        budget: { bytes: 2 ** 31 },
      })
      await fetch(new URL(`/executions/${id}/output?follow=true`, url)).then((answer) =>
        answer.body?.cancel(),
      )
      await using page = await browser.open(`${url}#/executions/${id}`)
      await page.when(
        "it is over",
        `document.querySelector("h1 .state")?.textContent === "done"`,
        120_000,
      )
      await page.goTo(url)
      await page.whenText("Ended")

      const rows = "[...document.querySelectorAll('.row .text')]"
      const numbered = (line: number) => String(line).padStart(10, "0")
      const shows = (line: number) =>
        `${rows}.some((row) => row.textContent.startsWith("${numbered(line)}"))`
      // The bar has fewer places than there are lines.
      const showsAbout = (line: number) =>
        `${rows}.some((row) => Math.abs(parseInt(row.textContent) - ${line}) < ${lines / 100})`
      const openedMs = await until(page, () => page.click(".executions a"), shows(lines))
      const jumpedMs = await until(
        page,
        () =>
          page.evaluate(
            "const box = document.querySelector('.rows'); box.scrollTop = box.scrollHeight / 2",
          ),
        showsAbout(lines / 2),
      )
      await page.fill("[role=search] input", `${numbered(lines * 0.9)} x`)
      const searchedMs = await until(page, () => page.press("Enter"), shows(lines * 0.9))

      console.log(
        `${Math.round((lines * 104) / 1e6)} MB: opened at the end after ${openedMs} ms, ` +
          `in the middle after ${jumpedMs} ms, a word near the end found after ${searchedMs} ms`,
      )
      expect(page.complaints).toEqual([])
    },
    timeoutMs,
  )
})
