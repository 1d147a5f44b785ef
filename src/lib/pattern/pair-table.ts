const firstSlots = 1024

/** A number for a pair of small numbers: a Map would need an object, or a text, for each pair. */
export class PairTable {
  /** Three numbers a slot: both of the pair, and what is known of it, plus one. */
  #slots = new Int32Array(firstSlots * 3)
  #size = 0

  get size(): number {
    return this.#size
  }

  /** -1 where nothing is known. */
  get(one: number, other: number): number {
    return (this.#slots[this.#slotOf(one, other) + 2] ?? 0) - 1
  }

  /** Of a pair that is not known yet. */
  add(one: number, other: number, value: number): void {
    if (this.#size * 6 > this.#slots.length) this.#grow()
    this.#put(one, other, value + 1)
    this.#size += 1
  }

  clear(): void {
    this.#slots = new Int32Array(firstSlots * 3)
    this.#size = 0
  }

  #put(one: number, other: number, stored: number): void {
    const slot = this.#slotOf(one, other)
    this.#slots[slot] = one
    this.#slots[slot + 1] = other
    this.#slots[slot + 2] = stored
  }

  /** Where the pair is, or belongs. There is always a free slot. */
  #slotOf(one: number, other: number): number {
    const slots = this.#slots
    const mask = slots.length / 3 - 1
    let mixed = Math.imul(one, 0x9e3779b1) ^ Math.imul(other, 0x85ebca6b)
    mixed ^= mixed >>> 15
    while (true) {
      const slot = (mixed & mask) * 3
      const isFree = slots[slot + 2] === 0
      if (isFree || (slots[slot] === one && slots[slot + 1] === other)) return slot
      mixed += 1
    }
  }

  #grow(): void {
    const before = this.#slots
    this.#slots = new Int32Array(before.length * 2)
    for (let slot = 0; slot < before.length; slot += 3) {
      const stored = before[slot + 2] ?? 0
      if (stored !== 0) this.#put(before[slot] ?? 0, before[slot + 1] ?? 0, stored)
    }
  }
}
