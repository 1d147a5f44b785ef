import { fail, ok, type Result } from "../../../../lib/result.ts"
import { type Failure, failure } from "../../../../protocol/failure.ts"
import type { ResourceUpdates } from "../resources/resource-updates.ts"
import { type ListenRequest, listenOnlyTo, tooMuchIn, urisOf } from "./listen-request.ts"

type RequestId = string | number

/** Of one connection. */
export const mostListens = 32

/**
 * The requests of one connection that listen to resources. The SDK answers them by itself and says
 * nothing of it to its server: what they want is found out before it gets them.
 */
export class Listens {
  readonly #updates: ResourceUpdates
  readonly #refused: (uri: string, why: Failure) => void
  readonly #open = new Map<RequestId, Set<string>>()

  constructor(updates: ResourceUpdates, refused: (uri: string, why: Failure) => void) {
    this.#updates = updates
    this.#refused = refused
  }

  /** The request for what of it can be had; null when it was cancelled meanwhile. */
  async accept(request: ListenRequest): Promise<Result<ListenRequest | null, Failure>> {
    const tooMuch = tooMuchIn(request)
    if (tooMuch !== null) return fail(tooMuch)
    if (this.#open.size >= mostListens) return fail(tooMany)
    const wanted = new Set<string>()
    this.#open.set(request.id, wanted)
    for (const uri of new Set(urisOf(request))) {
      wanted.add(uri)
      const answer = await this.#updates.want(uri)
      if (!this.#open.has(request.id)) {
        this.#unwant(wanted)
        return ok(null)
      }
      if (answer.ok) continue
      wanted.delete(uri)
      this.#refused(uri, answer.failure)
    }
    return ok(listenOnlyTo(request, [...wanted]))
  }

  /** It was cancelled, or refused after all; nothing happens for what never listened. */
  end(id: RequestId): void {
    const wanted = this.#open.get(id)
    if (wanted === undefined) return
    this.#open.delete(id)
    this.#unwant(wanted)
  }

  /** Unless another one has asked for the same. */
  #unwant(uris: ReadonlySet<string>): void {
    const others = [...this.#open.values()]
    for (const uri of uris) {
      if (!others.some((wanted) => wanted.has(uri))) this.#updates.unwant(uri)
    }
  }
}

const tooMany = failure(
  "AT_CAPACITY",
  `${mostListens} subscriptions are open on this connection: cancel one first.`,
)
