/** Clients should have one request under way; a few more only wait their turn. */
const mostOfWriter = 4
/** However many names a principal invents, others find room in the queue. */
const mostOfPrincipal = 128

/** Null where a principal writes under no name. */
type Name = string | null

/** How many requests of each writer wait for the child to read. */
export class WaitingRequests {
  readonly #counts = new Map<string, Map<Name, number>>()

  /** Null when its writer, or its principal, has as many as it may have; else until disposed. */
  enter(principal: string, name: Name): Disposable | null {
    const own = this.#counts.get(principal) ?? new Map<Name, number>()
    const count = own.get(name) ?? 0
    const all = own.values().reduce((sum, one) => sum + one, 0)
    if (count >= mostOfWriter || all >= mostOfPrincipal) return null
    this.#counts.set(principal, own.set(name, count + 1))
    return { [Symbol.dispose]: () => this.#leave(principal, own, name) }
  }

  has(principal: string, name: Name): boolean {
    return this.#counts.get(principal)?.has(name) ?? false
  }

  #leave(principal: string, own: Map<Name, number>, name: Name): void {
    const left = (own.get(name) ?? 1) - 1
    if (left > 0) own.set(name, left)
    else own.delete(name)
    if (own.size === 0) this.#counts.delete(principal)
  }
}
