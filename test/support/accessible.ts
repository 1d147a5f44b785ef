import { expect } from "bun:test"
import { join } from "node:path"
import type { ConsolePage } from "./console-page.ts"

const axe = join(import.meta.dir, "../../node_modules/axe-core/axe.min.js")

/** What axe finds wrong in a view, and whether it is wider than the window: nothing, and no. */
export async function expectAccessible(page: ConsolePage, what: string): Promise<void> {
  // Only for the test: the page's own policy would not have it.
  await page.evaluate(await Bun.file(axe).text())
  const found = await page.evaluate(`axe.run().then(({ violations }) =>
    violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => [id, target, failureSummary].join(" "))))`)
  expect([what, found]).toEqual([what, []])
  expect([what, await page.evaluate("document.documentElement.scrollWidth > innerWidth")]).toEqual([
    what,
    false,
  ])
}
