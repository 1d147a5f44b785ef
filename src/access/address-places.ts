import { isLoopbackAddress, networkOf } from "../execution/tcp-ends.ts"

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
    const network = networkOf(address)
    const taken = this.#taken.get(network) ?? 0
    if (taken >= this.#most) return null
    this.#taken.set(network, taken + 1)
    using place = new DisposableStack()
    place.defer(() => this.#giveBack(network)) // once, however often it is disposed
    return place.move()
  }

  #giveBack(network: string): void {
    const left = (this.#taken.get(network) ?? 1) - 1
    if (left > 0) this.#taken.set(network, left)
    else this.#taken.delete(network)
  }
}

const nobodys: Disposable = { [Symbol.dispose]: () => undefined }
