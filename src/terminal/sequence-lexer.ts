import { unfinishedLength } from "../lib/utf8.ts"

const escape = 0x1b
const bell = 0x07
const cancel = 0x18
const substitute = 0x1a
const backslash = 0x5c
/** The first byte of every control character from U+0080 to U+009F. */
const c1Lead = 0xc2
/** DCS, SOS, CSI, OSC, PM, APC; every other of them, as ST, only ends what is open. */
const beginsSequence: ReadonlySet<number> = new Set([0x90, 0x98, 0x9b, 0x9d, 0x9e, 0x9f])

/** A string that goes on for longer, as a picture does, says nothing of the screen. */
const mostHeldBytes = 16 * 1024

const nothing = new Uint8Array(0)

/**
 * - `text`: characters and single control characters
 * - `sequence`: one escape sequence, whole
 * - `long`: a part of a control string that is too long to be held
 */
export type TokenKind = "text" | "sequence" | "long"

/** Gets what was lexed, in order and without gaps: `bytes` from `from` to `to`. */
export type TokenSink = (kind: TokenKind, bytes: Uint8Array, from: number, to: number) => void

/**
 * Takes the output of a terminal apart into text and escape sequences, as a terminal in UTF-8 does.
 * What is not whole yet, a sequence or a character, is held back until it is.
 */
export class SequenceLexer {
  #held: Uint8Array = nothing
  /** What ends the control string that is passed by; null outside of one. */
  #passing: "osc" | "other" | null = null
  #passedBytes = 0

  /** Bytes at the end of what came that are no whole token yet. */
  get unfinishedBytes(): number {
    return this.#passedBytes + this.#held.length
  }

  lex(chunk: Uint8Array, sink: TokenSink): void {
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk])
    this.#held = nothing
    let at = this.#passing === null ? 0 : this.#passBy(bytes, 0, sink)
    let textFrom = at
    let nextEscape = indexFrom(bytes, escape, at)
    let nextC1 = indexOfC1(bytes, at)
    while (this.#passing === null) {
      if (nextEscape < at) nextEscape = indexFrom(bytes, escape, at)
      if (nextC1 < at) nextC1 = indexOfC1(bytes, at)
      at = Math.min(nextEscape, nextC1)
      if (at >= bytes.length) break
      const end = tokenEnd(bytes, at)
      if (end === "single") {
        at += 2 // a control character of two bytes that begins nothing
        continue
      }
      if (at > textFrom) sink("text", bytes, textFrom, at)
      textFrom = at
      if (end === "unfinished") {
        if (bytes.length - at <= mostHeldBytes) return this.#hold(bytes, at)
        this.#passing = introducerOf(bytes, at) === 0x5d ? "osc" : "other"
        at = this.#passBy(bytes, at + (bytes[at] === c1Lead ? 2 : 1), sink, at)
        if (this.#passing !== null) return
      } else {
        sink(end - at > mostHeldBytes ? "long" : "sequence", bytes, at, end)
        at = end
      }
      textFrom = at
    }
    if (this.#passing !== null) return
    const wholeTo = bytes.length - unfinishedLength(bytes.subarray(textFrom))
    if (wholeTo > textFrom) sink("text", bytes, textFrom, wholeTo)
    this.#hold(bytes, wholeTo)
  }

  /** Nothing will follow: answers what was held back. */
  finish(): Uint8Array {
    const held = this.#held
    this.#held = nothing
    return held
  }

  #hold(bytes: Uint8Array, from: number): void {
    this.#held = from < bytes.length ? bytes.slice(from) : nothing
  }

  /** Passes a string by, up to its end where it is there; answers where it is. */
  #passBy(bytes: Uint8Array, from: number, sink: TokenSink, begin = from): number {
    const end = stringEnd(bytes, from, this.#passing === "osc")
    if (end !== "unfinished") {
      this.#passing = null
      this.#passedBytes = 0
      sink("long", bytes, begin, end)
      return end
    }
    // What may be the first half of its end waits for the other half.
    const last = bytes.at(-1)
    const heldFrom = last === escape || last === c1Lead ? bytes.length - 1 : bytes.length
    if (heldFrom > begin) sink("long", bytes, begin, heldFrom)
    this.#passedBytes += heldFrom - begin
    this.#hold(bytes, heldFrom)
    return bytes.length
  }
}

function indexFrom(bytes: Uint8Array, byte: number, from: number): number {
  const at = bytes.indexOf(byte, from)
  return at === -1 ? bytes.length : at
}

/** A lead byte at the end is no control character yet: the text holds it back. */
function indexOfC1(bytes: Uint8Array, from: number): number {
  for (let at = from; ; at += 1) {
    at = indexFrom(bytes, c1Lead, at)
    if (at + 1 >= bytes.length) return bytes.length
    const second = bytes[at + 1] ?? 0
    if (second >= 0x80 && second <= 0x9f) return at
  }
}

/** The byte after ESC of what begins here, in whichever of its two forms. */
function introducerOf(bytes: Uint8Array, at: number): number {
  const second = bytes[at + 1] ?? 0
  return bytes[at] === c1Lead ? second - 0x40 : second
}

function tokenEnd(bytes: Uint8Array, at: number): number | "unfinished" | "single" {
  if (at + 1 >= bytes.length) return "unfinished"
  const body = at + 2
  switch (introducerOf(bytes, at)) {
    case 0x5b: // CSI
      return controlEnd(bytes, body)
    case 0x5d: // OSC
      return stringEnd(bytes, body, true)
    case 0x50: // DCS
    case 0x58: // SOS
    case 0x5e: // PM
    case 0x5f: // APC
      return stringEnd(bytes, body, false)
  }
  return bytes[at] === c1Lead ? "single" : escapeEnd(bytes, at + 1)
}

/** ESC, intermediates, and a final byte. */
function escapeEnd(bytes: Uint8Array, from: number): number | "unfinished" {
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0
    if (byte === escape) return at // begins anew
    if (byte === cancel || byte === substitute) return at + 1
    if (byte >= 0x30 && byte !== 0x7f) return byte < 0x80 ? at + 1 : at
  }
  return "unfinished"
}

/** Parameters, intermediates, and a final byte; control characters in between act at once. */
function controlEnd(bytes: Uint8Array, from: number): number | "unfinished" {
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0
    if (byte === escape) return at
    if (byte === cancel || byte === substitute) return at + 1
    if (byte >= 0x40 && byte !== 0x7f) return byte < 0x80 ? at + 1 : at
  }
  return "unfinished"
}

/** Up to behind its terminator; a sequence that begins inside ends it, too. */
function stringEnd(bytes: Uint8Array, from: number, endsWithBell: boolean): number | "unfinished" {
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0
    if (byte === cancel || byte === substitute) return at + 1
    if (byte === bell && endsWithBell) return at + 1
    if (byte !== escape && byte !== c1Lead) continue
    if (at + 1 >= bytes.length) return "unfinished"
    if (byte === escape) return bytes[at + 1] === backslash ? at + 2 : at
    const second = bytes[at + 1] ?? 0
    if (second < 0x80 || second > 0x9f) continue
    return beginsSequence.has(second) ? at : at + 2
  }
  return "unfinished"
}
