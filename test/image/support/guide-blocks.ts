export type GuideBlock =
  | { kind: "script"; text: string }
  | { kind: "file"; path: string; text: string }

/** The blocks of a document that the guide's test runs, by the section they stand in. */
export function guideBlocks(document: string): { section: string; blocks: GuideBlock[] }[] {
  return document
    .split(/^## /m)
    .slice(1)
    .map((part) => ({ section: part.split("\n", 1)[0] ?? "", blocks: blocksOf(part) }))
    .filter(({ blocks }) => blocks.length > 0)
}

const mark = "<!-- run by: test/image/guide.test.ts -->\n"
const block = /^(?:<!-- file: (\S+) -->\n)?```(\w+)\n(.*?)^```$/ms

function blocksOf(section: string): GuideBlock[] {
  const marked = section.split(mark).slice(1)
  return marked.map((part) => {
    const [whole, path, language = "", text = ""] = block.exec(part) ?? []
    if (whole === undefined || !part.startsWith(whole)) throw new Error(`no block after ${mark}`)
    if (path !== undefined) return { kind: "file", path, text }
    if (language !== "sh") throw new Error(`the guide's test runs no ${language}`)
    return { kind: "script", text }
  })
}
