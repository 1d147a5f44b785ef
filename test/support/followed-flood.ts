import { expect } from "bun:test"
import type { RemoteExecution } from "../../src/client/remote-execution.ts"
import type { Encoding } from "../../src/protocol/execute.ts"
import { type FollowedOutput, followToEnd, libraryClient } from "./followed-output.ts"
import { fixture, runIndependently } from "./independent-run.ts"
import { byScale } from "./scale.ts"
import type { Service } from "./service.ts"
import { until } from "./until.ts"

const encodings: Encoding[] = ["utf8", "base64", "binary"]

/** Between pieces of 14 kB: in a short run one or two megabytes a second must do. */
const pauseMs = byScale({ short: 8, full: 2, long: 2 })

/** A flood that three clients follow, each in its own encoding, until it is told to end. */
export type Flood = AsyncDisposable & {
  execution: RemoteExecution
  ends: Promise<FollowedOutput>[]
  status(): Promise<{ pid: number | null }>
  untilAllHaveMore(): Promise<void>
}

/** Starts a flood, has two more clients attach, and waits until each is in the middle of it. */
export async function startFlood(service: Service): Promise<Flood> {
  const stack = new AsyncDisposableStack()
  const url = await service.url()
  const starter = stack.use(libraryClient(url))
  const argv = fixture("count-until-told.ts", pauseMs)
  const execution = await starter.execute({ argv, stdin: "pipe" })
  const others = (["base64", "binary"] as const).map((encoding) =>
    stack.use(libraryClient(url)).attach(execution.id, { encoding }),
  )
  const taken: number[] = encodings.map(() => 0)
  const ends = [execution, ...(await Promise.all(others))].map((one, index) =>
    followToEnd(one, (bytes) => {
      taken[index] = bytes
    }),
  )
  const untilAllHaveMore = async () => {
    const wanted = Math.max(...taken) + 500_000
    await until("everybody has more", () => taken.every((bytes) => bytes > wanted))
  }
  await untilAllHaveMore()
  return {
    execution,
    ends,
    status: () => starter.call("status", { execution_id: execution.id }),
    untilAllHaveMore,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

/** Everybody has every byte once, and the true exit code. */
export async function expectAllTold({ ends }: Flood): Promise<void> {
  const all = await Promise.all(ends)
  const lines = all[0]?.completed.lines.stdout ?? 0
  const { stdout } = await runIndependently(["seq", "1", `${lines}`])
  const everybody = <Fact>(fact: Fact) => all.map(() => fact)
  expect(all.map(({ hashes }) => hashes.stdout)).toEqual(everybody(stdout.hash))
  expect(all.map(({ completed }) => completed.hashes?.stdout)).toEqual(everybody(stdout.hash))
  expect(all.map(({ completed }) => completed.exit_code)).toEqual(everybody(7))
  expect(all.map(({ kinds }) => kinds)).toEqual(everybody(["started", "completed"]))
}
