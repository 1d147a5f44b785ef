/** Counts how much each holder uses, and all of them together; who uses none is forgotten. */
export class UsageCounter {
  readonly #amounts = new Map<string, number>()
  #total = 0

  get total(): number {
    return this.#total
  }

  of(holder: string): number {
    return this.#amounts.get(holder) ?? 0
  }

  /** Released by disposing it; disposing it again does nothing. */
  acquire(holder: string, amount = 1): DisposableStack {
    this.#change(holder, amount)
    const held = new DisposableStack()
    held.defer(() => this.#change(holder, -amount))
    return held
  }

  #change(holder: string, amount: number): void {
    this.#total += amount
    const holds = this.of(holder) + amount
    if (holds > 0) this.#amounts.set(holder, holds)
    else this.#amounts.delete(holder)
  }
}
