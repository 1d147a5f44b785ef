import { isLoopbackAddress } from "../execution/tcp-ends.ts"

/** So many connections one address may have; its own machine's users are known by name instead. */
export class AddressPlaces {
  readonly #most: number
  readonly #taken = new Map<string, number>()

  constructor(most: number) {
    this.#most = most
  }

  /** Null when all places of this address are taken; else it is given back when disposed. */
  take(address: string): Disposable | null {
    if (address === "unix" || isLoopbackAddress(address)) return nobodys
    const taken = this.#taken.get(address) ?? 0
    if (taken >= this.#most) return null
    this.#taken.set(address, taken + 1)
    return { [Symbol.dispose]: () => this.#giveBack(address) }
  }

  #giveBack(address: string): void {
    const left = (this.#taken.get(address) ?? 1) - 1
    if (left > 0) this.#taken.set(address, left)
    else this.#taken.delete(address)
  }
}

const nobodys: Disposable = { [Symbol.dispose]: () => undefined }
