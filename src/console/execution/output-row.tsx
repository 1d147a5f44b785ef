import { memo } from "preact/compat"
import { clockText, countText } from "../parts/format.ts"
import { plain, type Run, readLine, type Style } from "./sgr.ts"
import type { Row } from "./transcript-rows.ts"

type RowProps = {
  line: number
  row: Row | undefined
  version: number
  top: number
  isMarked: boolean
  sought: string
  link: string
}

export function OutputRow({ line, row, top, isMarked, sought, link }: RowProps) {
  return (
    <div class={isMarked ? "row marked" : "row"} style={{ transform: `translateY(${top}px)` }}>
      <a
        class="number"
        href={link}
        tabIndex={-1}
        aria-label={`Line ${line + 1}`}
        title={row === undefined ? undefined : clockText(row.time)}
      >
        {line + 1}
      </a>
      <span class="text" dir="auto">
        {row === undefined ? <span class="quiet">…</span> : <RowText row={row} sought={sought} />}
      </span>
    </div>
  )
}

const RowText = memo(function RowText({ row, sought }: { row: Row; sought: string }) {
  let style = plain
  return (
    <>
      {row.isCutBefore && <span class="note">… </span>}
      {row.parts.map(({ stream, text }, index) => {
        const { runs, after } = readLine(text, style)
        style = after
        return (
          <span key={index} class={stream}>
            {runs.map((run, at) => (
              <RunText key={at} run={run} sought={sought} />
            ))}
          </span>
        )
      })}
      {row.omitted > 0 && (
        <span class="note">
          {" "}
          … {row.isWhole ? "" : "at least "}
          {countText(row.omitted)} characters more on this line
        </span>
      )}
    </>
  )
})

function RunText({ run: { text, style }, sought }: { run: Run; sought: string }) {
  const parts = markedParts(text, sought)
  if (style === plain && parts.length === 1) return <>{text}</>
  return (
    <span class={classesOf(style)} style={coloursOf(style)}>
      {parts.map((part, index) => (index % 2 === 0 ? part : <mark key={index}>{part}</mark>))}
    </span>
  )
}

/** Every other part is what was sought. */
function markedParts(text: string, sought: string): string[] {
  if (sought === "") return [text]
  const parts: string[] = []
  const [inText, wanted] = [text.toLowerCase(), sought.toLowerCase()]
  let at = 0
  // Letters that change their length with their case are not looked for.
  for (
    let found = inText.length === text.length ? inText.indexOf(wanted) : -1;
    found !== -1;
    found = inText.indexOf(wanted, at)
  ) {
    parts.push(text.slice(at, found), text.slice(found, found + sought.length))
    at = found + sought.length
  }
  return [...parts, text.slice(at)]
}

function classesOf({ foreground, background, marks }: Style): string {
  const isInverse = marks.has("inverse")
  const [text, ground] = isInverse ? [background, foreground] : [foreground, background]
  const names: string[] = [...marks]
  if (typeof text === "number") names.push(`fg-${text}`)
  if (typeof ground === "number") names.push(`bg-${ground}`)
  return names.join(" ")
}

function coloursOf({ foreground, background, marks }: Style): Record<string, string> {
  const isInverse = marks.has("inverse")
  const [text, ground] = isInverse ? [background, foreground] : [foreground, background]
  return {
    ...(typeof text === "string" ? { color: text } : {}),
    ...(typeof ground === "string" ? { backgroundColor: ground } : {}),
  }
}
