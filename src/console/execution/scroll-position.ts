/** As much as a browser can scroll; more lines than fit are passed faster. */
const mostPixels = 8_000_000

/**
 * Where in a number of lines a scrolled box is. Small steps move by as many lines as they have
 * pixels for, however many lines there are; a jump of the bar goes where the bar is.
 */
export class ScrollPosition {
  /** The first line in view, with a fraction. */
  line = 0
  #lines = 0
  #visible = 1
  #lastTop = 0
  readonly rowHeight: number

  constructor(rowHeight: number) {
    this.rowHeight = rowHeight
  }

  get height(): number {
    return Math.min(mostPixels, this.#lines * this.rowHeight)
  }

  get #lastLine(): number {
    return Math.max(0, this.#lines - this.#visible)
  }

  resize(lines: number, visibleLines: number): void {
    this.#lines = lines
    this.#visible = visibleLines
  }

  /** Where the box was scrolled to by us, as far as it could be: that is no step of anybody's. */
  settled(top: number): void {
    this.#lastTop = top
  }

  isWhereItWas(top: number): boolean {
    return Math.abs(top - this.#lastTop) < 1
  }

  /** Answers where the box is to be scrolled to. */
  moveTo(line: number): number {
    this.line = Math.min(Math.max(0, line), this.#lastLine)
    this.#lastTop = this.#topOf(this.line)
    return this.#lastTop
  }

  scrolled(top: number): void {
    const delta = top - this.#lastTop
    this.#lastTop = top
    const isScaled = this.height < this.#lines * this.rowHeight
    const bottom = this.height - this.#visible * this.rowHeight
    if (top <= 0) this.line = 0
    else if (top >= bottom - 1) this.line = this.#lastLine
    else if (!isScaled) this.line = top / this.rowHeight
    else if (Math.abs(delta) < 2 * this.#visible * this.rowHeight) {
      this.line = Math.min(Math.max(0, this.line + delta / this.rowHeight), this.#lastLine)
    } else this.line = (top / bottom) * this.#lastLine
  }

  get isAtEnd(): boolean {
    return this.line >= this.#lastLine - 1
  }

  #topOf(line: number): number {
    const bottom = Math.max(0, this.height - this.#visible * this.rowHeight)
    if (this.height === this.#lines * this.rowHeight) return line * this.rowHeight
    return this.#lastLine === 0 ? 0 : (line / this.#lastLine) * bottom
  }
}
