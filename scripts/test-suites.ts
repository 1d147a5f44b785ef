import { join } from "node:path"
import { root } from "./steps.ts"

/** Suites that drive the executable, by their folder; everything else is the suite `unit`. */
const folders = ["end-to-end", "stress", "conformance", "image"]

/** The files of a suite, as `bun test` takes them. */
export async function filesOf(suite: string): Promise<string[]> {
  if (suite !== "unit" && !folders.includes(suite)) {
    throw new Error(`There is no suite ${suite}: give unit, ${folders.join(", ")} or static.`)
  }
  const found: string[] = []
  for await (const path of new Bun.Glob("**/*.test.ts").scan(join(root, "test"))) {
    const folder = folders.find((name) => path.startsWith(`${name}/`)) ?? "unit"
    if (folder === suite) found.push(`./test/${path}`)
  }
  if (found.length === 0) throw new Error(`The suite ${suite} has no files.`)
  return found.toSorted()
}
