import { HeldBy } from "../../lib/held-by.ts"
import { isLoopbackAddress, networkOf } from "../../lib/tcp-ends.ts"

/** So many connections one address may have; its own machine's users are known by name instead. */
export class AddressPlaces {
  readonly #most: number
  readonly #taken = new HeldBy()

  constructor(most: number) {
    this.#most = most
  }

  /** Null when all places of this address are taken; else it is given back when disposed. */
  take(address: string): Disposable | null {
    if (address === "unix" || isLoopbackAddress(address)) return nobodys
    const network = networkOf(address)
    return this.#taken.of(network) < this.#most ? this.#taken.hold(network) : null
  }
}

const nobodys: Disposable = { [Symbol.dispose]: () => undefined }
