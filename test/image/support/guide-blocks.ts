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

const marked =
  /^<!-- run by: test\/image\/guide\.test\.ts -->\n(?:<!-- file: (\S+) -->\n)?```(\w+)\n(.*?)^```$/gms

function blocksOf(section: string): GuideBlock[] {
  return [...section.matchAll(marked)].map(([, path, language = "", text = ""]) => {
    if (path !== undefined) return { kind: "file", path, text }
    if (language !== "sh") throw new Error(`the guide's test runs no ${language}`)
    return { kind: "script", text }
  })
}
