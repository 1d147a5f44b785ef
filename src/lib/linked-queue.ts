/** A first-in, first-out queue from whose middle entries are removed in constant time. */
export class LinkedQueue<Value> {
  #first: QueueNode<Value> | null = null
  #last: QueueNode<Value> | null = null
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Appends a value. Removing what was shifted already, or twice, does nothing. */
  push(value: Value): { remove(): void } {
    const node: QueueNode<Value> = { value, previous: this.#last, next: null, isQueued: true }
    if (this.#last === null) this.#first = node
    else this.#last.next = node
    this.#last = node
    this.#size += 1
    return { remove: () => this.#remove(node) }
  }

  shift(): Value | null {
    const first = this.#first
    if (first === null) return null
    this.#remove(first)
    return first.value
  }

  #remove(node: QueueNode<Value>): void {
    if (!node.isQueued) return
    const { previous: before, next: after } = node
    if (before === null) this.#first = after
    else before.next = after
    if (after === null) this.#last = before
    else after.previous = before
    node.isQueued = false
    this.#size -= 1
  }
}

type QueueNode<Value> = {
  value: Value
  previous: QueueNode<Value> | null
  next: QueueNode<Value> | null
  isQueued: boolean
}
