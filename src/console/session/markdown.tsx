import createPurifier from "dompurify"
import { Marked } from "marked"
import { useLayoutEffect, useRef } from "preact/hooks"
import { harmless } from "../../lib/harmless-text.ts"

/** No styles, no forms, nothing that is fetched: what is left only shapes text. */
const allowed = {
  ALLOWED_TAGS: [
    "p br hr em strong del code pre blockquote ul ol li",
    "h1 h2 h3 h4 h5 h6 table thead tbody tr th td",
  ].flatMap((names) => names.split(" ")),
  ALLOWED_ATTR: ["start", "align"],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
}

const purifier = createPurifier(window)

const reader = new Marked({
  gfm: true,
  renderer: {
    // Tags that an agent writes are shown, and never parsed: not even to be taken out again.
    html: ({ text }) => escaped(text),
    image: ({ text, href }) => escaped(`${text} (${href})`),
    link: ({ text, href }) => escaped(text === href ? text : `${text} (${href})`),
  },
})

/** What an agent says is never trusted: it is reduced to text with a shape. */
export function Markdown({ text }: { text: string }) {
  const box = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const html = reader.parse(harmless(text), { async: false })
    const shaped = purifier.sanitize(html, { ...allowed, RETURN_DOM_FRAGMENT: true })
    box.current?.replaceChildren(shaped)
  }, [text])
  return <div class="markdown" ref={box} />
}

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" }

function escaped(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => entities[character] ?? "")
}
