import { CallError } from "../../../../src/client/client-error.ts"
import { type Client, connect } from "../../../../src/client/connect.ts"
import type { RemoteExecution } from "../../../../src/client/remote-execution.ts"
import { until } from "../../../support/until.ts"
import type { Account, ObservedExecution } from "./observations.ts"
import type { Step } from "./work.ts"

const reconnect = { firstDelayMs: 10, maxDelayMs: 100, giveUpAfterMs: null }
// A service that was cut off without a word shall not be waited for until the test is over.
const limits = { greetingMs: 1500, silenceMs: 1000, silenceAnswerMs: 1000 }
const retryMs = 50

export function reconnectingClient(url: string): Client {
  return connect({ url, reconnect, limits })
}

/** Asks for an execution, steers it, and follows it to its end, with the client library. */
export async function ownByLibrary(client: Client, observed: ObservedExecution): Promise<void> {
  const execution = await executed(client, observed)
  if (execution === null) return
  const account = observed.account("its owner, by library")
  await Promise.all([follow(execution, account), steer(execution, observed, account)])
}

export async function observe(
  client: Client,
  observed: ObservedExecution,
  encoding: "utf8" | "base64" | "binary",
): Promise<void> {
  const account = observed.account(`an observer in ${encoding}`)
  const [id] = observed.ids
  if (id === undefined) throw new Error("nothing to observe")
  await follow(await client.attach(id, { encoding }), account)
}

/** Null where it is refused for good. */
async function executed(
  client: Client,
  observed: ObservedExecution,
): Promise<RemoteExecution | null> {
  const { key, work, encoding } = observed.planned
  const labels = { key }
  while (true) {
    try {
      const request = { ...work.request, encoding, labels, idempotency_key: key }
      const execution = await client.execute(request)
      observed.answered(execution.id)
      return execution
    } catch (error) {
      if (!(error instanceof CallError)) throw error
      observed.refused(error.failure.reason)
      if (error.failure.reason !== "DISK_FULL") return null
      await Bun.sleep(retryMs)
    }
  }
}

async function follow(execution: RemoteExecution, account: Account): Promise<void> {
  for await (const event of execution.output()) {
    if (event.kind === "output") account.took(event.stream, event.bytes)
    else if (event.kind === "gap") account.missed(event.bytes, event.lines)
    else if (event.kind === "completed") account.ended(event.completed)
  }
}

async function steer(
  execution: RemoteExecution,
  observed: ObservedExecution,
  account: Account,
): Promise<void> {
  const { steps, request } = observed.planned.work
  if (steps.length === 0) return
  const hasBegun = () => (request.stdin === "pipe" ? execution.pid !== null : account.position > 0)
  await until("it has begun", () => hasBegun() || account.end !== null, 40_000)
  for (const step of steps) if (!(await done(step, execution, observed))) return
  if (request.stdin === "pipe") await done("end", execution, observed)
}

/** False where the execution has ended before it could be done. */
async function done(
  step: Step | "end",
  execution: RemoteExecution,
  observed: ObservedExecution,
): Promise<boolean> {
  try {
    if (typeof step === "object") {
      await execution.write(step.input)
      observed.inputTaken += Buffer.byteLength(step.input)
    } else if (step === "end") await execution.end()
    else if (step === "pause") await execution.pause()
    else if (step === "resume") await execution.resume()
    else if (step === "cancel") {
      const { survivors } = await execution.cancel()
      if (survivors.length > 0) throw new Error(`survivors: ${JSON.stringify(survivors)}`)
    } else killLeader(execution.pid)
    observed.did(typeof step === "object" ? `input up to ${observed.inputTaken}` : step)
    return true
  } catch (error) {
    unlessTooLate(error)
    observed.did(`${JSON.stringify(step).slice(0, 20)} came too late: ${String(error)}`)
    return false
  }
}

function killLeader(pid: number | null): void {
  if (pid === null) return
  try {
    process.kill(pid, "SIGKILL")
  } catch {
    // it is gone: a fault was faster
  }
}

function unlessTooLate(error: unknown): void {
  const isLate = error instanceof CallError && error.failure.reason === "WRONG_STATE"
  if (!isLate) throw error
}
