const alternateScreens: ReadonlySet<string> = new Set(["47", "1047", "1049"])
/** Modes of a terminal that are on before a program changes them; all others are off. */
const onByDefault: ReadonlySet<string> = new Set(["7", "8", "25"])
/** Terminals differ in how they begin with this one, so that nobody knows what to put back. */
const unknownDefault: ReadonlySet<string> = new Set(["1007"])

const escape = "\x1b"
// Control sequences, with their marker, parameters, intermediate and final byte; the keypad's mode,
// a reset of everything, and a choice of character set.
const sequence = new RegExp(
  String.raw`${escape}(?:\[([<-?]?)([\d;:]*)([ -/]?)([@-~])|([=>c])|\(([ -~]))`,
  "g",
)
// What could become one with the next bytes.
const unfinished = new RegExp(String.raw`${escape}(?:\[[ -?]{0,64}|\()?$`)

/** What a program has done to the terminal, so that who leaves it in the middle can undo that. */
export class TerminalModes {
  /** By what was changed: the sequence that puts it back. */
  readonly #undo = new Map<string, string>()
  #alternate: string | null = null
  /** Of the kitty keyboard protocol: how often flags were pushed. */
  #keyboardDepth = 0
  #hasStyle = false
  #isMidLine = false
  #rest = ""

  see(bytes: Uint8Array): void {
    const last = bytes.at(-1)
    if (last === undefined) return
    this.#isMidLine = last !== 0x0a
    if (this.#rest === "" && !bytes.includes(escape.charCodeAt(0))) return
    const seen = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1")
    const text = this.#rest + seen
    for (const match of text.matchAll(sequence)) this.#apply(match)
    this.#rest = unfinished.exec(text)?.[0] ?? ""
  }

  /** Puts everything back; nothing where nothing was changed. */
  undo(): string {
    const changed = [...this.#undo.values()]
    if (this.#keyboardDepth > 0) changed.push(`\x1b[<${this.#keyboardDepth}u`)
    // Last, for keyboard flags belong to the screen that they were set on.
    if (this.#alternate !== null) changed.push(`\x1b[?${this.#alternate}l`)
    if (this.#hasStyle) changed.push("\x1b[0m")
    return changed.join("")
  }

  /** The same, and then to the beginning of a line below which nothing is left. */
  leave(): string {
    const isAfterText = this.#alternate === null && this.#isMidLine
    return `${this.undo()}${isAfterText ? "\r\n" : "\r"}\x1b[J`
  }

  #apply([, marker = "", parameters = "", middle = "", final, single, charset]: RegExpExecArray) {
    if (charset !== undefined) return this.#keep("charset", charset !== "B", "\x1b(B")
    if (single === "c") {
      this.#alternate = null
      return this.#forget()
    }
    if (single !== undefined) return this.#keep("keypad", single === "=", "\x1b>")
    switch (`${marker}${middle}${final}`) {
      case "?h":
      case "?l":
        for (const mode of parameters.split(";")) this.#setPrivate(mode, final === "h")
        return
      case "h":
      case "l":
        for (const mode of parameters.split(";")) {
          this.#keep(`ansi ${mode}`, final === "h", `\x1b[${mode}l`)
        }
        return
      case ">u":
        this.#keyboardDepth += 1
        return
      case "<u":
        this.#keyboardDepth = Math.max(0, this.#keyboardDepth - (Number(parameters) || 1))
        return
      case "=u":
        return this.#keep("keyboard flags", true, "\x1b[=0u")
      case ">m":
        return this.#keep("other keys", /^4;[1-9]/.test(parameters), "\x1b[>4m")
      case " q":
        return this.#keep("cursor style", !/^0?$/.test(parameters), "\x1b[0 q")
      case "r": // resetting the margins moves the cursor, which is put back
        return this.#keep("margins", parameters !== "", "\x1b7\x1b[r\x1b8")
      case "!p":
        return this.#forget()
      case "m":
        this.#hasStyle = true
    }
  }

  #setPrivate(mode: string, isOn: boolean): void {
    if (unknownDefault.has(mode)) return
    if (alternateScreens.has(mode)) {
      this.#alternate = isOn ? mode : null
      return
    }
    const before = onByDefault.has(mode)
    this.#keep(`private ${mode}`, isOn !== before, `\x1b[?${mode}${before ? "h" : "l"}`)
  }

  #keep(what: string, isChanged: boolean, undo: string): void {
    if (isChanged) this.#undo.set(what, undo)
    else this.#undo.delete(what)
  }

  #forget(): void {
    this.#undo.clear()
    this.#keyboardDepth = 0
  }
}
