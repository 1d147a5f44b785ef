import { join } from "node:path"
import { root } from "./steps.ts"

export const suiteNames = [
  "fast",
  "end-to-end",
  "conformance",
  "project",
  "image",
  "machine",
  "stress",
] as const

export type Suite = (typeof suiteNames)[number]

/**
 * The folders of `test` that suites are in. All others mirror `src` and are `fast`: they need no
 * executable, no root and no network.
 */
const folders: Record<Exclude<Suite, "fast">, readonly string[]> = {
  "end-to-end": ["end-to-end"],
  conformance: ["conformance"],
  project: ["documentation", "packaging", "scripts/build"],
  image: ["image"],
  machine: ["machine"],
  stress: ["stress"],
}

export function suiteNamed(name: string): Suite {
  const suite = suiteNames.find((known) => known === name)
  if (suite === undefined) {
    throw new Error(`There is no suite ${name}: use static, ${suiteNames.join(", ")}.`)
  }
  return suite
}

/** The files of some suites, as `bun test` takes them. */
export async function filesOf(suites: readonly Suite[]): Promise<string[]> {
  const found: string[] = []
  for await (const path of new Bun.Glob("**/*.test.ts").scan(join(root, "test"))) {
    if (suites.includes(suiteOf(path))) found.push(`./test/${path}`)
  }
  if (found.length === 0) throw new Error(`No test file is in ${suites.join(", ")}.`)
  return found.toSorted()
}

function suiteOf(path: string): Suite {
  const isIn = (suite: Suite) =>
    suite !== "fast" && folders[suite].some((folder) => path.startsWith(`${folder}/`))
  return suiteNames.find(isIn) ?? "fast"
}
