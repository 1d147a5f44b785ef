import { type JsonEvents, JsonScanner } from "../../lib/json-scanner.ts"
import { TextCounter } from "../../lib/text-counter.ts"
import { CountedText } from "./counted-text.ts"

/** A JSON value in which every text is cut short, but says how often the sought one stood in it. */
export type Counted =
  | { kind: "text"; head: string; times: number }
  | { kind: "scalar"; written: string; times: number }
  | { kind: "list"; items: Counted[] }
  | { kind: "object"; fields: Map<string, Counted>; keyTimes: number }

/** More of one value is not held: it cannot be told what it says then. */
const mostValues = 100_000
const mostHeldCharacters = 4 * 1024 * 1024

/** Reads one JSON value of any size into a small one. */
export class CountedJson {
  readonly #scanner: JsonScanner
  readonly #builder: Builder

  constructor(sought: string) {
    this.#builder = new Builder(sought)
    this.#scanner = new JsonScanner(this.#builder)
  }

  push(text: string): void {
    if (!this.#builder.isFull) this.#scanner.push(text)
  }

  /** Null for what is no JSON, or has too many values. */
  end(): Counted | null {
    return this.#scanner.end() && !this.#builder.isFull ? this.#builder.root : null
  }
}

/** How often the sought text stood in a value and all that is in it. */
export function timesIn(value: Counted | undefined): number {
  switch (value?.kind) {
    case undefined:
      return 0
    case "text":
    case "scalar":
      return value.times
    case "list":
      return value.items.reduce((sum, item) => sum + timesIn(item), 0)
    case "object":
      return [...value.fields.values()].reduce((sum, field) => sum + timesIn(field), value.keyTimes)
  }
}

class Builder implements JsonEvents {
  root: Counted | null = null
  readonly #sought: string
  readonly #parents: Extract<Counted, { kind: "list" | "object" }>[] = []
  readonly #keys: string[] = []
  #text: CountedText | null = null
  #values = 0
  #heldCharacters = 0

  constructor(sought: string) {
    this.#sought = sought
  }

  get isFull(): boolean {
    return this.#values > mostValues
  }

  open(kind: "object" | "list"): void {
    const value: Counted =
      kind === "list" ? { kind, items: [] } : { kind, fields: new Map(), keyTimes: 0 }
    this.#add(value)
    this.#parents.push(value)
    this.#keys.push("")
  }

  close(): void {
    this.#parents.pop()
    this.#keys.pop()
  }

  key(name: string): void {
    const parent = this.#parents.at(-1)
    if (parent?.kind === "object") parent.keyTimes += this.#timesIn(name)
    this.#keys[this.#keys.length - 1] = name
  }

  text(piece: string, isLast: boolean): void {
    this.#text ??= new CountedText(this.#sought)
    this.#text.push(piece)
    if (!isLast) return
    const { head, times } = this.#text.close()
    this.#text = null
    this.#heldCharacters += head.length
    const isHeld = this.#heldCharacters <= mostHeldCharacters
    this.#add({ kind: "text", head: isHeld ? head : "", times })
  }

  scalar(written: string): void {
    this.#add({ kind: "scalar", written, times: this.#timesIn(written) })
  }

  #add(value: Counted): void {
    this.#values += 1
    if (this.isFull) return
    const parent = this.#parents.at(-1)
    if (parent === undefined) this.root = value
    else if (parent.kind === "list") parent.items.push(value)
    else parent.fields.set(this.#keys.at(-1) ?? "", value)
  }

  #timesIn(text: string): number {
    const counter = new TextCounter(this.#sought)
    counter.push(text)
    return counter.total()
  }
}
