import { CallError } from "../../client/client-error.ts"
import type { RemoteExecution } from "../../client/remote-execution.ts"
import { DetachKeys } from "./detach-keys.ts"

/** What may be typed ahead of a program that reads nothing; then typing waits for it. */
const mostUnreadBytes = 1024 * 1024
/** How long the first of the keys that detach waits for the next one. */
const heldMs = 500

export type KeysOptions = {
  /** What leaves the terminal; null where nothing does. */
  detachKeys: Uint8Array | null
  /** The execution takes no keys, now or ever: what is typed from now on is for nobody. */
  refused: (error: CallError) => void
  failed: (error: unknown) => void
}

/** Passes keys on, in their order, without waiting until they are taken. */
export class TypedKeys implements Disposable {
  readonly #execution: Pick<RemoteExecution, "write">
  readonly #options: KeysOptions
  readonly #detachKeys: DetachKeys | null
  #timer: Timer | undefined
  #last: Promise<void> = Promise.resolve()
  #unreadBytes = 0
  #isRefused = false

  constructor(execution: Pick<RemoteExecution, "write">, options: KeysOptions) {
    const { detachKeys } = options
    this.#execution = execution
    this.#options = options
    this.#detachKeys = detachKeys && new DetachKeys(detachKeys)
  }

  get unreadBytes(): number {
    return this.#unreadBytes
  }

  /** Answers whether the keys to detach were among them. */
  type(typed: Uint8Array): boolean {
    const keys = this.#detachKeys
    if (keys === null) {
      this.#send(typed)
      return false
    }
    clearTimeout(this.#timer)
    const { forward, isDetach } = keys.feed(typed)
    this.#send(forward)
    if (keys.isPending) this.#timer = setTimeout(() => this.#send(keys.release()), heldMs)
    return isDetach
  }

  /** Resolves when more may be typed. */
  room(): Promise<void> {
    return this.#unreadBytes < mostUnreadBytes ? Promise.resolve() : this.#last
  }

  /** Resolves when everything was taken, or nothing more will be. */
  allTaken(): Promise<void> {
    return this.#last
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
  }

  #send(bytes: Uint8Array): void {
    if (bytes.length === 0 || this.#isRefused) return
    this.#unreadBytes += bytes.length
    this.#last = this.#write(bytes)
  }

  async #write(bytes: Uint8Array): Promise<void> {
    try {
      await this.#execution.write(bytes)
      this.#unreadBytes -= bytes.length
    } catch (error) {
      if (this.#isRefused) return // what was typed ahead of the refusal is refused like it
      this.#isRefused = true
      if (error instanceof CallError) this.#options.refused(error)
      else this.#options.failed(error)
    }
  }
}
