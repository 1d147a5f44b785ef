import { describe, expect } from "bun:test"
import { z } from "zod"
import { noBrowser } from "../support/browser.ts"
import type { ConsolePage } from "../support/console-page.ts"
import { isRunning, Service } from "../support/service.ts"
import { sharedConsole } from "../support/shared-console.ts"
import { testUnless } from "../support/test-unless.ts"
import { until } from "../support/until.ts"

const timeoutMs = 60_000
const Dropped = z.object({ dropped: z.object({ lines: z.int() }) })
const shared = sharedConsole()

/** Starts a command in the page, as a person would, and waits for its view. */
async function startCommand(
  page: ConsolePage,
  command: string,
  ...boxes: string[]
): Promise<string> {
  await page.evaluate("location.hash = '#/start'")
  await page.fill("#command", command)
  for (const box of boxes) await page.click(`input[name=${box}]`)
  await page.click("form button", "Start")
  const address: string = await page.when(
    "the execution is shown",
    "location.hash.startsWith('#/executions/') && document.querySelector('.rows') && location.hash",
  )
  return address.split("/")[2] ?? ""
}

function stateIs(word: string): string {
  return `document.querySelector("h1 .state")?.textContent === ${JSON.stringify(word)}`
}

/** The lines in view, without their numbers. */
function shownLines(page: ConsolePage): Promise<string[]> {
  return page.evaluate("[...document.querySelectorAll('.row .text')].map((row) => row.textContent)")
}

async function expectNoComplaint(page: ConsolePage): Promise<void> {
  expect(page.complaints).toEqual([])
  expect(await page.violations()).toEqual([])
}

describe("the console of a fresh service", () => {
  testUnless(
    noBrowser,
    "teaches, starts a command, follows it, and steers it",
    async () => {
      await using page = await shared().open()
      await page.whenText("Nothing has run here yet")

      const loop = "for i in $(seq 100000); do echo line $i; sleep 0.02; done"
      await startCommand(page, `sh -c '${loop}'`)
      await page.whenText(/line 5\n/)
      await page.click("button", "Pause")
      await page.when("it is paused", stateIs("paused"))
      await page.click("button", "Resume")
      await page.when("it runs", stateIs("running"))
      const before = await page.evaluate(
        "Number([...document.querySelectorAll('.number')].at(-1).textContent)",
      )
      await page.when(
        "further lines come",
        `Number([...document.querySelectorAll('.number')].at(-1).textContent) > ${before} + 10`,
      )
      const lines = await shownLines(page)
      await page.click("button", "Cancel")
      await page.whenText("none is left")
      await page.when("it is over", stateIs("canceled"))

      const numbers = lines.filter((line) => line !== "…").map((line) => Number(line.split(" ")[1]))
      expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] ?? 0) + index))
      await page.click("nav.parts a", "Record")
      await page.click("button", "Verify")
      await page.whenText("Sound: what is on disk is what was written.")
      await expectNoComplaint(page)
      const hosts = page.requested.filter((address) => !address.startsWith("data:"))
      expect(new Set(hosts.map((address) => new URL(address).host))).toEqual(
        new Set([new URL(shared().url).host]),
      )
    },
    timeoutMs,
  )

  testUnless(
    noBrowser,
    "sends what is typed, and its end",
    async () => {
      await using page = await shared().open()
      await startCommand(page, "sed -u s/^/got:/", "stdin")

      await page.fill("#stdin", "words of mine")
      await page.press("Enter")
      await page.whenText("got:words of mine")
      await page.click("button", "End of input")

      await page.when("it has ended", stateIs("done"))
      await expectNoComplaint(page)
    },
    timeoutMs,
  )

  testUnless(
    noBrowser,
    "finds words and lines in what was written, and links to them",
    async () => {
      await using page = await shared().open()
      const id = await startCommand(page, "seq 200000")
      await page.when("all of it is there", stateIs("done"))

      await page.fill("[role=search] input", "123456")
      await page.press("Enter")
      await page.whenText("1 of 1")
      const marked = "document.querySelector('.row.marked')?.textContent"
      await page.when("the line is marked", `${marked}?.startsWith('123456123456')`)
      await using linked = await shared().open(`#/executions/${id}/line/99999`)
      await linked.when("the linked line is marked", `${marked} === '9999999999'`)

      await expectNoComplaint(page)
    },
    timeoutMs,
  )

  testUnless(
    noBrowser,
    "says what was dropped, exactly",
    async () => {
      const id = await shared().start({ command: "seq 100000", budget: { bytes: 500_000 } })
      await using page = await shared().open(`#/executions/${id}`)
      await page.when("it is over", stateIs("done"))
      const text = await page.whenText("are not kept")

      const { dropped } = Dropped.parse(
        await (await fetch(new URL(`/executions/${id}`, shared().url))).json(),
      )
      expect(text).toContain(`${dropped.lines.toLocaleString("en-US")} lines`)
      await page.press("Home")
      await expectNoComplaint(page)
    },
    timeoutMs,
  )

  testUnless(
    noBrowser,
    "filters what it lists by words, states and labels",
    async () => {
      await using page = await shared().open()
      for (const kind of ["red", "blue"]) {
        await shared().start({ command: `echo ${kind} paint`, labels: { kind } })
      }
      await page.whenText("blue paint")
      await page.fill("input[type=search]", "kind:red paint")

      await page.when(
        "only one is left",
        "document.querySelectorAll('.executions li').length === 1",
      )
      expect(await page.text()).toContain("red paint")
      await expectNoComplaint(page)
    },
    timeoutMs,
  )
})

describe("a gateway that is killed", () => {
  testUnless(
    noBrowser,
    "is waited for: no line is missing, and none is there twice",
    async () => {
      await using own = await Service.start()
      await using page = await shared().browser.open(await own.url("/"))
      await startCommand(page, "sh -c 'for i in $(seq 1000); do echo n $i; sleep 0.005; done'")
      await page.whenText("n 20")
      await page.note(`[
        document.querySelector(".connection").innerText,
        document.querySelector("h1").getBoundingClientRect().top,
      ].join()`)

      const { gatewayPid } = own
      process.kill(gatewayPid, "SIGKILL")
      await until("the gateway is gone", () => !isRunning(gatewayPid))

      await page.when("it is at its end", stateIs("done"))
      await page.whenText("n 1000")
      // What tells of it moves nothing: else a press at that moment would hit something else.
      const top: number = await page.evaluate(
        "document.querySelector('h1').getBoundingClientRect().top",
      )
      expect(await page.noted()).toEqual([`,${top}`, `Connection lost. Reconnecting…,${top}`])
      const seen = new Set<string>()
      for (let line = 1; line <= 1000; line += 30) {
        await page.evaluate(
          `location.hash = location.hash.split("/").slice(0, 3).join("/") + "/line/${line}"`,
        )
        await page.when(
          "the line is here",
          `document.querySelector('.row.marked .text')?.textContent === 'n ${line}'`,
        )
        await page.when(
          "those around it are here",
          "![...document.querySelectorAll('.row .text')].some((row) => row.textContent === '…')",
        )
        const rows = await page.evaluate(
          "[...document.querySelectorAll('.row')].map((row) => row.textContent)",
        )
        for (const row of rows) seen.add(row)
      }
      expect(seen).toEqual(
        new Set(Array.from({ length: 1000 }, (_, index) => `${index + 1}n ${index + 1}`)),
      )
    },
    timeoutMs,
  )
})

describe("the page as it is sent", () => {
  testUnless(
    noBrowser,
    "is 80 kB of script and style at most, compressed, and cached by its names",
    async () => {
      await using page = await shared().open()
      await page.whenText("Now")
      const loaded = page.requested.filter((address) => address.includes("/console/"))
      const sizes = await Promise.all(
        loaded.map(async (address) => {
          const answer = await fetch(address, {
            headers: { "Accept-Encoding": "gzip" },
            decompress: false,
          })
          expect(answer.headers.get("content-encoding")).toBe("gzip")
          expect(answer.headers.get("cache-control")).toBe("public, max-age=31536000, immutable")
          return (await answer.arrayBuffer()).byteLength
        }),
      )
      expect(loaded.length).toBeGreaterThan(1)
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(80 * 1024)
    },
    timeoutMs,
  )
})
