import { unknownResourceUse } from "../../src/execution/record.ts"
import type { Exit } from "../../src/execution/state.ts"
import { ok } from "../../src/lib/result.ts"
import type { Child, ChildOutput, Clock, Spawner } from "../../src/service/keeper/ports.ts"
import { ScriptedTree } from "./scripted-tree.ts"

/** Children that write what a test says and live until it ends them. */
export class ScriptedChildren implements Spawner {
  readonly containment = "best-effort"
  readonly #clock: Clock
  /** By the first argument: the name a test knows one by. */
  readonly #running = new Map<string, { end: (exit: Exit) => void; output: ScriptedOutput }>()
  readonly started: string[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  spawn({ argv }: Parameters<Spawner["spawn"]>[0]) {
    const name = argv[1] ?? ""
    const pid = this.started.push(name)
    const exited = Promise.withResolvers<Exit>()
    const output = new ScriptedOutput()
    this.#running.set(name, { end: exited.resolve, output })
    const child: Child = {
      leader: { pid, startTicks: pid },
      exited: exited.promise,
      outputs: [{ stream: "stdout", output }],
      input: null,
      status: null,
      tree: new ScriptedTree(this.#clock, []),
      resize: () => undefined,
      use: () => unknownResourceUse,
      ranOutOfMemory: () => false,
      hasBeenWaitedFor: () => false,
      handOver: () => ({ leader: { pid, startTicks: pid }, outputs: [], input: null, frozen: [] }),
      [Symbol.dispose]: () => undefined,
    }
    return ok(child)
  }

  adopt(): never {
    throw new Error("nothing was handed over here")
  }

  endUnadopted(): void {}

  write(name: string, bytes: number): void {
    this.#running.get(name)?.output.write(new Uint8Array(bytes))
  }

  end(name: string): void {
    this.#running.get(name)?.output.cancel()
    this.#running.get(name)?.end({ kind: "exited", exitCode: 0 })
  }
}

class ScriptedOutput implements ChildOutput {
  readonly #pieces: Array<Uint8Array | null> = []
  #wake: (() => void) | null = null

  async read(): Promise<Uint8Array | null> {
    while (this.#pieces.length === 0) {
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
    return this.#pieces.shift() ?? null
  }

  write(piece: Uint8Array | null): void {
    this.#pieces.push(piece)
    this.#wake?.()
  }

  cancel(): void {
    this.write(null)
  }

  handOver(): null {
    this.cancel()
    return null
  }
}
