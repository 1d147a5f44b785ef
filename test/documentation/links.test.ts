import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../../scripts/steps.ts"
import { anchorsOf, linksOf, linkTrouble } from "./links.ts"

const documents = ["*.md", "docs/**/*.md"].flatMap((pattern) =>
  [...new Bun.Glob(pattern).scanSync(root)].toSorted(),
)
const read = (document: string) => readFileSync(join(root, document), "utf8")

describe.each(documents)("%s", (document) => {
  test("links to what is there", () => {
    const troubled = linksOf(document, read(document)).flatMap((link) => {
      const trouble = linkTrouble(link)
      return trouble === null ? [] : [`${link.target} ${trouble}`]
    })

    expect(troubled).toEqual([])
  })
})

test("every document can be reached from the README", () => {
  const reached = new Set(["README.md"])
  for (const document of reached) {
    for (const { path } of document.endsWith(".md") ? linksOf(document, read(document)) : []) {
      // A link to a folder shows what is in it.
      const inside = documents.filter((other) => other.startsWith(`${path.replace(/\/$/, "")}/`))
      for (const next of documents.includes(path) ? [path] : inside) reached.add(next)
    }
  }

  expect(documents).toContain("docs/adr/0001-two-processes-one-executable.md")
  expect(documents.filter((document) => !reached.has(document))).toEqual([])
})

describe("the rules", () => {
  test("find a link to nothing, out of the project, and to no heading", () => {
    const text = "[a](nothing.md) [b](../../x) [c](README.md#nowhere) [d](README.md#install)"
    const troubles = linksOf("README.md", text).map(linkTrouble)

    expect(troubles).toEqual([
      "leads to no file",
      "leads out of the project",
      "has no such heading",
      null,
    ])
  })

  test("leave code, comments, blocks and other sites alone", () => {
    const code = "`[a](b)` <!-- [c](d) --> [e](https://example.net/f)\n\n```text\n[g](h)\n```\n"

    expect(linksOf("README.md", code)).toEqual([])
  })

  test("make anchors as GitHub does", () => {
    const text = "# A `b` & c\n\n## What's *new*? [x](y)\n\n## Über uns\n\n## Twice\n\n## Twice\n"

    expect(anchorsOf("a.md", text)).toEqual([
      "a-b--c",
      "whats-new-x",
      "über-uns",
      "twice",
      "twice-1",
    ])
  })
})
