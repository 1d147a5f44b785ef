import { expect, test } from "bun:test"
import { Glob } from "bun"

/** MCP spells its notification, and the status of a task, with two l. */
const ofProtocol = /notifications\/cancelled|"cancelled"/g

const places = ["src/**/*.ts", "docs/**/*.md", "*.md", "packaging/**/*"]

test("canceled and canceling are spelled one way, save where a protocol spells them", async () => {
  const found: string[] = []
  for (const place of places) {
    for await (const path of new Glob(place).scan()) {
      const text = (await Bun.file(path).text()).replace(ofProtocol, "")
      for (const [word] of text.matchAll(/\b\w*cancell(?:ed|ing)\w*/gi)) {
        found.push(`${path}: ${word}`)
      }
    }
  }

  expect(found).toEqual([])
})
