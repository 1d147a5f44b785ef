/** Of one principal; past it, the one of its own that wrote longest ago goes. */
const mostWriters = 1000

/** A principal gives its writers their names: another's of the same name is another writer. */
export type Writer = { principal: string; name: string }

/** One writer: its principal, its name, and how many of its bytes were taken. */
export type WriterOffset = [principal: string, name: string, taken: number]

/**
 * How many bytes of each writer a child has taken. A writer counts its own bytes only, so that what
 * others write meanwhile does not make its next request look like a repetition, or like a gap.
 *
 * To be forgotten does no harm to a writer whose requests were all answered: the client library
 * goes on under another name. Whoever waits for an answer, and may have to repeat its request, is
 * among those who wrote last, and nobody else's writers count against it.
 */
export class WriterOffsets {
  /** By principal, then by name, in the order of their last bytes. */
  readonly #taken = new Map<string, Map<string, number>>()

  constructor(before: Iterable<WriterOffset> = []) {
    for (const [principal, name, taken] of before) this.#ofPrincipal(principal).set(name, taken)
  }

  get entries(): WriterOffset[] {
    return [...this.#taken].flatMap(([principal, own]) =>
      [...own].map(([name, taken]): WriterOffset => [principal, name, taken]),
    )
  }

  of({ principal, name }: Writer): number {
    return this.#taken.get(principal)?.get(name) ?? 0
  }

  /** Those with requests under way are kept: what they wrote before decides what comes next. */
  add(writer: Writer, bytes: number, isUnderWay: (writer: Writer) => boolean): void {
    const { principal, name } = writer
    const own = this.#ofPrincipal(principal)
    const taken = this.of(writer) + bytes
    own.delete(name)
    own.set(name, taken)
    if (own.size <= mostWriters) return
    const [oldest] = own.keys().filter((other) => !isUnderWay({ principal, name: other }))
    if (oldest !== undefined) own.delete(oldest)
  }

  #ofPrincipal(principal: string): Map<string, number> {
    const known = this.#taken.get(principal)
    if (known !== undefined) return known
    const own = new Map<string, number>()
    this.#taken.set(principal, own)
    return own
  }
}
