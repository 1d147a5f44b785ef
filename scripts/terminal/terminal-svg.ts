const characterWidth = 8
const lineHeight = 18
const margin = 16
const barHeight = 30

// As in a terminal: by the number of the escape sequence that asks for it.
const colourOf: Record<string, string> = {
  "1": "bold",
  "2": "dim",
  "31": "red",
  "32": "green",
  "33": "yellow",
  "36": "cyan",
}

const style = `<style>
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#e6edf3;white-space:pre}
.bold{font-weight:bold}.dim{fill:#8b949e}.red{fill:#ff7b72}.green{fill:#56d364}
.yellow{fill:#e3b341}.cyan{fill:#56c8d8}.prompt{fill:#8b949e}
</style>`

/** A picture of a terminal that shows these lines, whose colours are escape sequences. */
export function terminalSvg(lines: string[], columns: number): string {
  const width = columns * characterWidth + 2 * margin
  const height = barHeight + lines.length * lineHeight + 2 * margin
  const dots = ["#ff5f57", "#febc2e", "#28c840"].map(
    (colour, index) => `<circle cx="${20 + index * 18}" cy="16" r="6" fill="${colour}"/>`,
  )
  const colours = new Colours()
  const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" xml:space="preserve">`,
    style,
    `<rect width="${width}" height="${height}" rx="8" fill="#161b22"/>`,
    dots.join(""),
    ...lines.map((line, index) => {
      const y = barHeight + margin + (index + 0.7) * lineHeight
      return `<text class="line" x="${margin}" y="${y.toFixed(1)}">${colours.line(line)}</text>`
    }),
    "</svg>\n",
  ].join("\n")
}

/** The lines of text in such a picture. */
export function linesOfSvg(svg: string): string[] {
  const texts = [...svg.matchAll(/<text class="line"[^>]*>(.*)<\/text>/g)]
  return texts.map(([, inner = ""]) => unescaped(inner.replaceAll(/<[^>]+>/g, "")))
}

export function withoutColours(line: string): string {
  return line.replaceAll(escapes, "")
}

const escapes = new RegExp(String.raw`\u001b\[([\d;]*)m`, "g")

/** Colours as they stand: they go on until something else is asked for, in the next line, too. */
class Colours {
  #shown: string[] = []

  line(text: string): string {
    const pieces = text.split(escapes)
    const spans = pieces.map((piece, index) => {
      if (index % 2 === 1) for (const code of piece.split(";")) this.#take(code)
      if (index % 2 === 1 || piece === "") return ""
      return this.#shown.length === 0
        ? escaped(piece)
        : `<tspan class="${this.#shown.join(" ")}">${escaped(piece)}</tspan>`
    })
    return spans.join("")
  }

  #take(code: string): void {
    const name = colourOf[code]
    const isStyle = code === "1" || code === "2"
    if (code === "" || code === "0") this.#shown = []
    else if (isStyle) this.#shown = [...this.#shown, name ?? ""]
    else if (/^3\d$/.test(code)) {
      const styles = this.#shown.filter((one) => one === "bold" || one === "dim")
      this.#shown = name === undefined ? styles : [...styles, name]
    }
  }
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
}

function unescaped(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&")
}
