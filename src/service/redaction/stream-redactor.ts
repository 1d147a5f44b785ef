import type { HandedRedactor } from "../../execution/handover.ts"
import { nowhere, type SubsetStates } from "../../lib/pattern/subset-states.ts"

/** Further than this a text is not followed before what is known of it is settled. */
const mostFollowedBytes = 64 * 1024
/** With the states' memory full, it is made anew after so many more bytes. */
const fewestFollowedBytes = 1024

const isCovered = 2
const isJoined = 1
const none = new Uint8Array(0)

type RedactorState = Omit<HandedRedactor, "stream">

/** What stands for what was taken out: by pattern. */
export type Replacements = readonly Uint8Array[]

/** A stretch of the stream that was taken out, by its first byte and the one after its last. */
export type Span = { from: number; to: number; replacement: Uint8Array }

/**
 * Takes everything that lies inside a match out of a stream, however it is cut into pieces.
 *
 * Forward, the states say at which places a match may be under way, and whether one is complete.
 * Back from there, they say which places are in one. Both passes cost a fixed number of steps for
 * each byte: no place is tried as the beginning of a match by itself.
 */
export class StreamRedactor {
  readonly #states: SubsetStates
  readonly #replacements: Replacements
  #count = 0
  /** What may yet turn out to belong to a match, and the positions before it; null for none. */
  #held: Uint8Array = none
  #before: Int32Array | null = null
  /** Whether the byte before what is held was in a match. */
  #isInside = false
  /** From the place where a match may have begun, by place: states, and what is known there. */
  readonly #path: Int32Array
  readonly #marks: Uint8Array
  #pathFrom = 0
  #isAnyComplete = false
  #pieces: Uint8Array[] = []
  /** Null where nobody asks for them: a stream may go on for ever. */
  readonly #spans: Span[] | null
  #settledBytes = 0

  constructor(
    states: SubsetStates,
    replacements: Replacements,
    scratch: Scratch,
    spans: Span[] | null = null,
  ) {
    this.#spans = spans
    this.#states = states
    this.#replacements = replacements
    this.#path = scratch.path
    this.#marks = scratch.marks
  }

  /** How often something was taken out: matches that overlap count once. */
  get count(): number {
    return this.#count
  }

  /** Where it stands in its stream; the positions mean something to the same patterns only. */
  handOver(): RedactorState {
    return {
      count: this.#count,
      held: this.#held.toBase64(),
      before: this.#before === null ? null : [...this.#before],
      isInside: this.#isInside,
    }
  }

  /** Goes on from where another one stood. */
  restore({ count, held, before, isInside }: RedactorState): this {
    this.#count = count
    this.#held = Uint8Array.fromBase64(held)
    this.#before = before === null ? null : new Int32Array(before)
    this.#isInside = isInside
    return this
  }

  /** Answers what may be recorded now; it may share memory with what was given. */
  push(bytes: Uint8Array): Uint8Array {
    return this.#take(this.#held.length === 0 ? bytes : joined([this.#held, bytes]), false)
  }

  /** Nothing comes any more: answers what was held. */
  end(): Uint8Array {
    return this.#take(this.#held, true)
  }

  #take(bytes: Uint8Array, isEnd: boolean): Uint8Array {
    const states = this.#states
    let plainFrom = 0
    let settled = 0
    while (settled < bytes.length) {
      if (states.isFull) states.forget()
      const end = this.#follow(bytes, settled)
      const from = this.#pathFrom
      if (from > settled) this.#isInside = false
      const state = this.#path[end - from] ?? nowhere
      const isAllKnown = isEnd && end === bytes.length
      const known = isAllKnown ? end : Math.max(from, end - states.undecided(state))
      if (this.#isAnyComplete) plainFrom = this.#replace(bytes, end, known, plainFrom)
      else if (known > from) this.#isInside = false
      const before = this.#path[known - from] ?? nowhere
      this.#before = before === nowhere ? null : states.setOf(before)
      settled = known
      if (end === bytes.length) break
    }
    if (settled > plainFrom) this.#pieces.push(bytes.subarray(plainFrom, settled))
    // A copy, which a Buffer's own slice would not be: whoever gave the bytes may use them again.
    this.#held = settled < bytes.length ? new Uint8Array(bytes.subarray(settled)) : none
    this.#settledBytes += settled
    const answer = joined(this.#pieces)
    this.#pieces = []
    return answer
  }

  /**
   * Goes on until a match was complete and none is under way, the bytes end, or so much was
   * followed that it must be settled. What begins like a match and is none is only passed.
   */
  #follow(bytes: Uint8Array, start: number): number {
    const states = this.#states
    const path = this.#path
    const { kindOf, kinds, begins } = states
    const { length } = bytes
    const patience = states.positions + fewestFollowedBytes
    let { table, isComplete } = states
    let state = this.#before === null ? nowhere : states.stateOf(this.#before)
    let completed = 0
    let from = start
    let at = start
    path[0] = state
    while (at < length) {
      if (state === nowhere) {
        if (completed !== 0) break
        while (at < length && begins[bytes[at] ?? 0] === 0) at += 1
        from = at
        path[0] = nowhere
        if (at === length) break
      }
      const kind = kindOf[bytes[at] ?? 0] ?? 0
      let next = table[state * kinds + kind] ?? -1
      if (next < 0) {
        if (at - from >= patience && states.isFull) break
        next = states.step(state, kind)
        table = states.table
        isComplete = states.isComplete
      }
      state = next
      at += 1
      path[at - from] = state
      completed |= isComplete[state] ?? 0
      if (at - from === mostFollowedBytes) break
    }
    this.#pathFrom = from
    this.#isAnyComplete = completed !== 0
    return at
  }

  /** Takes out what is known to be in a match; answers from where on bytes are still to be told. */
  #replace(bytes: Uint8Array, end: number, known: number, plainFrom: number): number {
    const from = this.#pathFrom
    const marks = this.#marks
    this.#markCovered(end - from)
    let plain = plainFrom
    let isInside = this.#isInside
    for (let at = from; at < known; at++) {
      const mark = marks[at - from] ?? 0
      if (mark < isCovered) {
        if (isInside) {
          plain = at
          this.#spanEnds(at)
        }
        isInside = false
      } else if (!isInside || mark === isCovered) {
        if (!isInside && at > plain) this.#pieces.push(bytes.subarray(plain, at))
        if (isInside) this.#spanEnds(at)
        const replacement = this.#replacementAt(bytes, at)
        this.#pieces.push(replacement)
        this.#spans?.push({ from: this.#settledBytes + at, to: 0, replacement })
        this.#count += 1
        isInside = true
      }
    }
    this.#isInside = isInside
    if (isInside) this.#spanEnds(known)
    return isInside ? known : plain
  }

  /** As far as is known: it may go on in what comes next. */
  #spanEnds(at: number): void {
    const span = this.#spans?.at(-1)
    if (span !== undefined) span.to = this.#settledBytes + at
  }

  /** From the end back: a byte is covered where what led to it also leads to a complete match. */
  #markCovered(places: number): void {
    const states = this.#states
    const path = this.#path
    const marks = this.#marks
    let later = nowhere
    let lastState = -1
    let lastLater = -1
    let answer = 0
    for (let place = places; place >= 0; place--) {
      const state = path[place] ?? nowhere
      // In a long match the same is asked again and again.
      if (state !== lastState || later !== lastLater) answer = states.back(state, later)
      lastState = state
      lastLater = later
      // The byte after this place is known; here one learns whether it is joined to the one before.
      marks[place] = (later === nowhere ? 0 : isCovered) | (answer & isJoined)
      later = answer >> 1
    }
  }

  /** Named for the pattern whose match begins here and is complete first; of several, the first. */
  #replacementAt(bytes: Uint8Array, from: number): Uint8Array {
    const states = this.#states
    const [first = none] = this.#replacements
    if (this.#replacements.length === 1) return first
    let state = nowhere
    for (let at = from; at < bytes.length; at++) {
      const kind = states.kindOf[bytes[at] ?? 0] ?? 0
      state = at === from ? states.step(nowhere, kind) : states.stepAlone(state, kind)
      const pattern = states.completes(state)
      if (pattern !== null) return this.#replacements[pattern] ?? first
    }
    return first
  }
}

/** Room to work in, the same for all streams: one is worked on at a time. */
export type Scratch = { path: Int32Array; marks: Uint8Array }

export function newScratch(): Scratch {
  return {
    path: new Int32Array(mostFollowedBytes + 1),
    marks: new Uint8Array(mostFollowedBytes + 1),
  }
}

export function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const [only] = pieces
  if (pieces.length === 1 && only !== undefined) return only
  const all = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    all.set(piece, at)
    at += piece.length
  }
  return all
}
