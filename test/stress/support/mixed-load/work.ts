import type { Ending } from "../../../../src/protocol/execution-view.ts"
import type { ParamsOf } from "../../../../src/protocol/methods.ts"
import type { ReceivedOutput } from "../../../support/received-output.ts"
import type { StreamClient } from "../../../support/stream-client.ts"
import type { Evidence } from "../evidence.ts"

/** Something that one or a few clients do. */
export type Work = {
  kind: string
  sessions: number // that it has from the beginning
  run(stage: Stage, clients: readonly StreamClient[]): Promise<void>
}

/** Where a piece of work happens, and what it leaves in writing. */
export type Stage = {
  url: string
  folder: string // of its own
  random: (below: number) => number
  evidence: Evidence
  /** Notes how an execution must end. */
  expectEnd(id: string, ending: Partial<Ending>): void
}

/** Executes; the time to the first byte goes in the report. */
export async function execute(
  stage: Stage,
  client: StreamClient,
  params: ParamsOf<"execute">,
  ending: Partial<Ending>,
): Promise<{ id: string; output: ReceivedOutput }> {
  const askedMs = performance.now()
  const started = await client.execute(params)
  const { id, output } = started
  stage.expectEnd(id, ending)
  heard(output, "a first byte", () => output.bytes > 0).then(
    () => stage.evidence.latency("first byte", performance.now() - askedMs),
    () => undefined, // not everything has output
  )
  return started
}

/** Waits for output to be as it should; fails when the execution ends without. */
export async function heard(
  output: ReceivedOutput,
  what: string,
  isThere: () => boolean,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const look = () => {
    if (isThere()) resolve()
  }
  const looks = looksAt(output)
  looks.add(look)
  const end = () => (isThere() ? resolve() : reject(new Error(`it ended without ${what}`)))
  output.completed.then(end, reject)
  look()
  await promise.finally(() => looks.delete(look))
}

const looksByOutput = new WeakMap<ReceivedOutput, Set<() => void>>()

/** Several may wait for one output: its one ear serves them all. */
function looksAt(output: ReceivedOutput): Set<() => void> {
  const known = looksByOutput.get(output)
  if (known !== undefined) return known
  const looks = new Set<() => void>()
  looksByOutput.set(output, looks)
  output.onChunk = () => {
    for (const look of looks) look()
  }
  return looks
}

/** The time until something was answered goes in the report. */
export async function timed<Value>(
  { evidence }: Stage,
  what: string,
  answer: Promise<Value>,
): Promise<Value> {
  const askedMs = performance.now()
  const value = await answer
  evidence.latency(what, performance.now() - askedMs)
  return value
}

export function pick<Value>({ random }: Pick<Stage, "random">, values: readonly Value[]): Value {
  const value = values[random(values.length)]
  if (value === undefined) throw new Error("there is nothing to pick from")
  return value
}

export function only(clients: readonly StreamClient[]): StreamClient {
  const [client] = clients
  if (client === undefined) throw new Error("there is no client")
  return client
}
