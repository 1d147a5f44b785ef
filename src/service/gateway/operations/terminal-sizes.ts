import type { ExecutionId } from "../../../execution/id.ts"
import type { TerminalSize } from "../../../execution/spec.ts"
import type { DeclaredSize } from "../screen-ports.ts"
import type { KeeperLink } from "./keeper-link.ts"

type Declared = { size: TerminalSize }

/**
 * The terminals of those who write to an execution, and how large they are. What it runs on is as
 * large as fits on all of them, so that everybody sees all of it.
 */
export class TerminalSizes {
  readonly #link: () => KeeperLink
  readonly #declared = new Map<ExecutionId, Set<Declared>>()

  constructor(link: () => KeeperLink) {
    this.#link = link
  }

  declare(id: ExecutionId, size: TerminalSize): DeclaredSize {
    const declared: Declared = { size }
    const all = this.#declared.get(id) ?? new Set()
    this.#declared.set(id, all)
    all.add(declared)
    return {
      change: (changed) => {
        declared.size = changed
        return this.#apply(id, all)
      },
      [Symbol.dispose]: () => {
        if (!all.delete(declared)) return
        // Who leaves last leaves the size as it is.
        if (all.size === 0) this.#declared.delete(id)
        else void this.#apply(id, all)
      },
    }
  }

  #apply(executionId: ExecutionId, all: ReadonlySet<Declared>) {
    const sizes = [...all].map(({ size }) => size)
    const size = {
      cols: Math.min(...sizes.map(({ cols }) => cols)),
      rows: Math.min(...sizes.map(({ rows }) => rows)),
    }
    return this.#link().call("resize", { executionId, size })
  }
}
