import { pageStyle } from "./page-style.ts"
import { xmlText } from "./xml-text.ts"

/** A report as one page that needs nothing from anywhere. `sections` are HTML already. */
export type Page = {
  title: string
  subtitle: string
  tiles: Tile[]
  sections: string[]
}

/** One figure in large letters. */
export type Tile = { label: string; value: string; tone: "good" | "bad" | "" }

export function pageText({ title, subtitle, tiles, sections }: Page): string {
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${xmlText(title)}</title><style>${pageStyle}</style></head><body><main>`,
    `<header><h1>${xmlText(title)}</h1><p>${xmlText(subtitle)}</p></header>`,
    `<div class="tiles">${tiles.map(tileText).join("")}</div>`,
    ...sections,
    "</main></body></html>\n",
  ].join("\n")
}

function tileText({ label, value, tone }: Tile): string {
  return `<div class="tile ${tone}"><b>${xmlText(value)}</b><span>${xmlText(label)}</span></div>`
}

/** The cells are HTML already. */
export function pageTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = (tag: string, row: readonly string[]) =>
    `<tr>${row.map((cell) => `<${tag}>${cell}</${tag}>`).join("")}</tr>`
  const body = rows.map((row) => cells("td", row)).join("")
  return (
    `<div class="scroll"><table><thead>${cells("th", head)}</thead>` +
    `<tbody>${body}</tbody></table></div>`
  )
}

/** What became of something, such as `passed`. */
export function pageBadge(result: string): string {
  return `<span class="badge ${result}">${result}</span>`
}
