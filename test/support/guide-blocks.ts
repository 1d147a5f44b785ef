export type GuideBlock =
  | { kind: "script"; text: string }
  | { kind: "file"; path: string; text: string }

/** The blocks of a document that a test says it runs, by the section they stand in. */
export function guideBlocks(
  document: string,
  test: string,
): { section: string; blocks: GuideBlock[] }[] {
  const mark = `<!-- run by: ${test} -->\n`
  return document
    .split(/^## /m)
    .slice(1)
    .map((part) => ({ section: part.split("\n", 1)[0] ?? "", blocks: blocksOf(part, mark) }))
    .filter(({ blocks }) => blocks.length > 0)
}

const block = /^(?:<!-- file: (\S+) -->\n)?```(\w+)\n(.*?)^```$/ms

function blocksOf(section: string, mark: string): GuideBlock[] {
  const parts = section.split(mark).slice(1)
  const marked = parts.map((part) => part.replace(/^\n/, ""))
  return marked.map((part) => {
    const [whole, path, language = "", text = ""] = block.exec(part) ?? []
    if (whole === undefined || !part.startsWith(whole)) throw new Error(`no block after ${mark}`)
    if (path !== undefined) return { kind: "file", path, text }
    if (language !== "sh") throw new Error(`the guide's test runs no ${language}`)
    return { kind: "script", text }
  })
}
