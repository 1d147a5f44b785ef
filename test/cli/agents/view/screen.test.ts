import { describe, expect, test } from "bun:test"
import type { Bottom } from "../../../../src/cli/agents/view/bottom.ts"
import { line } from "../../../../src/cli/agents/view/line.ts"
import { Screen } from "../../../../src/cli/agents/view/screen.ts"
import { until } from "../../../support/until.ts"
import { fakeContext, fakeOutput } from "../../fake-context.ts"

/** A screen with one row at its bottom, and everything that was written to it. */
function screenOf(bottom: () => Bottom) {
  const stdout = fakeOutput({ isTty: true })
  const context = fakeContext({ stdout, terminalSize: () => ({ cols: 80, rows: 24 }) })
  const failed = (error: unknown) => {
    throw error
  }
  return { stdout, screen: new Screen(context, bottom, failed) }
}

describe("the screen of a session", () => {
  test("is drawn again when something has changed, and only then", async () => {
    let text = "first"
    const { stdout, screen } = screenOf(() => ({ rows: [text], cursor: { row: 0, column: 0 } }))
    await screen.open()
    await until("the first picture", () => stdout.text().includes("first"))
    // As nothing has changed, nothing is written, and the next change still is.
    for (let times = 0; times < 3; times += 1) {
      screen.redraw()
      await Bun.sleep(50) // longer than a picture stays
    }
    text = "second"
    screen.redraw()
    await until("the second picture", () => stdout.text().includes("second"))
    await screen.close()

    expect(stdout.text().match(/first/g)).toHaveLength(1)
  })

  test("makes those wait who bring more than it can show, and loses nothing", async () => {
    const { stdout, screen } = screenOf(() => ({ rows: [""], cursor: { row: 0, column: 0 } }))
    await screen.open()
    let mostWaiting = 0
    for (let at = 0; at < 10_000; at += 100) {
      screen.add(Array.from({ length: 100 }, (_, index) => line(`line ${at + index}.`)))
      mostWaiting = Math.max(mostWaiting, at - (stdout.text().match(/line /g)?.length ?? 0))
      await screen.room()
    }
    await screen.close()

    expect(mostWaiting).toBeLessThan(1_000)
    const shown = [...stdout.text().matchAll(/line (\d+)\./g)].map(([, number]) => Number(number))
    expect(shown).toEqual(Array.from({ length: 10_000 }, (_, index) => index))
  })
})
