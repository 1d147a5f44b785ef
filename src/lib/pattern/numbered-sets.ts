const firstSets = 64

/** Sets of positions as bits, each kept once and known by its number. */
export class NumberedSets {
  readonly words: number
  /** All sets, one after the other. */
  bits: Int32Array
  #hashed: Int32Array
  #size = 0

  constructor(words: number) {
    this.words = words
    this.bits = new Int32Array(firstSets * words)
    this.#hashed = new Int32Array(firstSets * 4)
  }

  get size(): number {
    return this.#size
  }

  clear(): void {
    this.bits = new Int32Array(firstSets * this.words)
    this.#hashed = new Int32Array(firstSets * 4)
    this.#size = 0
  }

  of(number: number): Int32Array {
    return this.bits.slice(number * this.words, (number + 1) * this.words)
  }

  numberOf(set: Int32Array): number {
    const slot = this.#slotOf(set, 0)
    const known = (this.#hashed[slot] ?? 0) - 1
    if (known >= 0) return known
    const number = this.#size
    this.#size += 1
    if (this.#size * this.words > this.bits.length) {
      const bits = new Int32Array(this.bits.length * 2)
      bits.set(this.bits)
      this.bits = bits
    }
    this.bits.set(set, number * this.words)
    this.#hashed[slot] = number + 1
    if (this.#size * 2 > this.#hashed.length) this.#rehash()
    return number
  }

  #slotOf(bits: Int32Array, from: number): number {
    const mask = this.#hashed.length - 1
    let hash = 0
    for (let word = 0; word < this.words; word++) {
      hash = Math.imul(hash ^ (bits[from + word] ?? 0), 0x9e3779b1)
      hash ^= hash >>> 15
    }
    while (true) {
      const slot = hash & mask
      const number = (this.#hashed[slot] ?? 0) - 1
      if (number < 0 || this.#isSame(number, bits, from)) return slot
      hash += 1
    }
  }

  #isSame(number: number, bits: Int32Array, from: number): boolean {
    const at = number * this.words
    for (let word = 0; word < this.words; word++) {
      if (this.bits[at + word] !== bits[from + word]) return false
    }
    return true
  }

  #rehash(): void {
    this.#hashed = new Int32Array(this.#hashed.length * 2)
    for (let number = 0; number < this.#size; number++) {
      this.#hashed[this.#slotOf(this.bits, number * this.words)] = number + 1
    }
  }
}
