import { readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../../scripts/steps.ts"
import { type Comments, readComments } from "./comments.ts"

/** A fenced block of a document, with what the comments right before it say. */
export type Block = {
  document: string
  line: number // of its opening fence
  section: string // the `##` heading it stands under
  language: string
  text: string
  comments: Comments
}

/** A document without its blocks: what links and headings are looked for in. */
export type Document = { path: string; blocks: Block[]; prose: string }

/** What a reader is sent to; decisions are history and not among it. */
export function documentPaths(): string[] {
  const pages = [...new Bun.Glob("docs/*.md").scanSync(root)].toSorted()
  return ["README.md", "CONTRIBUTING.md", ...pages]
}

export function readDocument(path: string): Document {
  return parseDocument(path, readFileSync(join(root, path), "utf8"))
}

export function parseDocument(path: string, text: string): Document {
  const blocks: Block[] = []
  const prose: string[] = []
  let open: { fence: string; block: Block; lines: string[] } | null = null
  let section = ""
  let before: string[] = []

  for (const [index, line] of text.split("\n").entries()) {
    if (open !== null) {
      prose.push("")
      if (line.trim() !== open.fence) open.lines.push(line)
      else {
        blocks.push({ ...open.block, text: unindented(open.lines) })
        open = null
      }
      continue
    }
    const fence = /^ *(`{3,}|~{3,})([\w-]*)\s*$/.exec(line)
    if (fence !== null) {
      const [, marks = "", language = ""] = fence
      const comments = readComments(before, `${path}:${index + 1}`)
      const place = { document: path, line: index + 1, section, language }
      open = { fence: marks, block: { ...place, text: "", comments }, lines: [] }
      before = []
      prose.push("")
      continue
    }
    if (line.startsWith("## ")) section = line.slice(3).trim()
    // Comments count when nothing but empty lines stands between them and the block.
    if (/^ *<!--.*-->$/.test(line)) before.push(line.trim())
    else if (line.trim() !== "") before = []
    prose.push(line)
  }
  if (open !== null) throw new Error(`${path}:${open.block.line}: this block has no end`)
  return { path, blocks, prose: prose.join("\n") }
}

/** A block inside a list is indented with it. */
function unindented(lines: string[]): string {
  const widths = lines.filter((line) => line.trim() !== "").map((line) => line.search(/\S/))
  const width = Math.min(...widths, 80)
  return lines.map((line) => `${line.slice(width)}\n`).join("")
}
