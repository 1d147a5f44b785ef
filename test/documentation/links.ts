import { existsSync, readFileSync, statSync } from "node:fs"
import { dirname, join, normalize } from "node:path"
import { root } from "../../scripts/steps.ts"
import { parseDocument } from "./document.ts"

export type Link = { target: string; path: string; anchor: string | null }

/** The links of a document to files of the project, pictures too, as paths from its root. */
export function linksOf(document: string, text: string): Link[] {
  const prose = withoutCode(parseDocument(document, text).prose)
  const inline = [...prose.matchAll(/\]\(<?([^)\s>]+)>?(?: "[^"]*")?\)/g)]
  const named = [...prose.matchAll(/^\[[^\]]+\]: (\S+)/gm)]
  const targets = [...inline, ...named].map(([, target = ""]) => target)
  return targets
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => linkTo(document, target))
}

function linkTo(document: string, target: string): Link {
  const [file = "", anchor = null] = target.split("#")
  const path = file === "" ? document : normalize(join(dirname(document), file))
  return { target, path, anchor }
}

/** What is wrong with a link, or null. */
export function linkTrouble({ path, anchor }: Link): string | null {
  const file = join(root, path)
  if (path.startsWith("..")) return "leads out of the project"
  if (!existsSync(file)) return "leads to no file"
  if (anchor === null) return null
  if (statSync(file).isDirectory() || !path.endsWith(".md")) return "has an anchor, to no document"
  return anchorsOf(path, readFileSync(file, "utf8")).includes(anchor) ? null : "has no such heading"
}

/** The anchors of a document's headings, as GitHub makes them. */
export function anchorsOf(document: string, text: string): string[] {
  const { prose } = parseDocument(document, text)
  const seen = new Map<string, number>()
  return [...prose.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = ""]) => {
    const anchor = heading
      .trim()
      .toLowerCase()
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, "")
      .replaceAll(" ", "-")
    const count = seen.get(anchor) ?? 0
    seen.set(anchor, count + 1)
    return count === 0 ? anchor : `${anchor}-${count}`
  })
}

/** In code, brackets and parentheses are no link. */
function withoutCode(prose: string): string {
  return prose
    .replaceAll(/(`+)(?:(?!\1).|\n(?!\n))+?\1/g, "code")
    .replaceAll(/<!--[\s\S]*?-->/g, "")
}
