import { type Signal, useSignal } from "@preact/signals"
import { useLayoutEffect, useRef } from "preact/hooks"
import { bytesText, countText } from "../parts/format.ts"
import { OutputRow } from "./output-row.tsx"
import { ScrollPosition } from "./scroll-position.ts"
import type { Transcript } from "./transcript.ts"

export type PaneProps = {
  transcript: Transcript
  /** The line that the address names, or a search has found. */
  marked: Signal<number | null>
  sought: Signal<string>
  isFollowing: Signal<boolean>
  linkTo: (line: number) => string
}

const rowHeight = 18

/** The lines in view, and no others: however long the output is, the page stays small. */
export function OutputPane(props: PaneProps) {
  const { transcript, marked, sought, isFollowing, linkTo } = props
  const box = useRef<HTMLDivElement>(null)
  const place = useRef(new ScrollPosition(rowHeight)).current
  const first = useSignal(0)
  const visible = useSignal(1)
  void transcript.version.value
  const offset = transcript.firstLine
  const count = Math.max(0, transcript.lines.value - offset)
  place.resize(count, visible.value)

  const show = () => {
    first.value = place.line
    transcript.want(Math.floor(place.line) + offset, Math.ceil(place.line + visible.value) + offset)
  }
  const moveTo = (line: number) => {
    const top = place.moveTo(line)
    if (box.current !== null) {
      box.current.scrollTop = top
      place.settled(box.current.scrollTop)
    }
    show()
  }

  useLayoutEffect(() => {
    const { current } = box
    if (current === null) return
    const measure = () => {
      visible.value = Math.max(1, current.clientHeight / rowHeight)
    }
    const observer = new ResizeObserver(measure)
    observer.observe(current)
    measure()
    return () => observer.disconnect()
  }, [])
  // A line that is to be shown may not be known yet: it is gone to once it is.
  const target = useRef<number | null>(null)
  useLayoutEffect(() => {
    if (marked.value === null) return
    isFollowing.value = false
    target.current = marked.value
  }, [marked.value])
  useLayoutEffect(() => {
    scrolled() // by somebody since the last frame: its event is still to come
    if (target.current === null) return moveTo(isFollowing.value ? count : place.line)
    moveTo(target.current - offset - visible.value / 3)
    if (target.current < count + offset) target.current = null
  }, [count, visible.value, isFollowing.value, marked.value, transcript.version.value])

  const scrolled = () => {
    const { current } = box
    if (current === null || place.isWhereItWas(current.scrollTop)) return
    // A box that has grown is scrolled by the browser, before anybody else is told of its size.
    place.resize(count, current.clientHeight / rowHeight)
    place.scrolled(current.scrollTop)
    if (isFollowing.value && !place.isAtEnd) isFollowing.value = false
    else if (place.isAtEnd && transcript.view.value.state !== "ended") isFollowing.value = true
    show()
  }

  const { dropped, budget } = transcript.view.value
  const start = Math.floor(first.value)
  const shown = Math.min(count - start, Math.ceil(visible.value) + 1)
  return (
    <div class="output">
      {dropped.bytes > 0 && (
        <p class="gap">
          {countText(dropped.lines)} lines ({bytesText(dropped.bytes)}) before these are not kept:
          the budget is {bytesText(budget.bytes)}.
        </p>
      )}
      <div
        ref={box}
        class="rows"
        role="log"
        aria-live="off"
        aria-label="Output, line by line"
        tabIndex={0}
        onScroll={scrolled}
      >
        <div class="extent" style={{ height: `${place.height}px` }}>
          <div class="window">
            {Array.from({ length: Math.max(0, shown) }, (_, index) => {
              const line = start + index + offset
              return (
                <OutputRow
                  key={line}
                  line={line}
                  row={transcript.row(line)}
                  version={transcript.version.value}
                  top={(start + index - first.value) * rowHeight}
                  isMarked={marked.value === line}
                  sought={sought.value}
                  link={linkTo(line)}
                />
              )
            })}
          </div>
        </div>
      </div>
      {count === 0 && <p class="quiet none">{emptyText(transcript)}</p>}
    </div>
  )
}

function emptyText({ view }: Transcript): string {
  return view.value.state === "ended" ? "It wrote nothing." : "It has not written anything yet."
}
