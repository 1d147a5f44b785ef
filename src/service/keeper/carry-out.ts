import { fail, ok, type Result } from "../../lib/result.ts"
import { type Failure, failure } from "../../protocol/failure.ts"
import type { KeeperParams } from "../../protocol/ipc.ts"
import type { ControlResult } from "../../protocol/methods.ts"
import type { KeeperPorts } from "./keeper-ports.ts"
import type { Steering } from "./supervision/steering.ts"
import type { StopReport } from "./supervision/stopping.ts"

export type Order = Omit<KeeperParams<"control">, "origin">

/** Does with a live execution what a client has asked for. */
export async function carryOut(
  { executionId: execution_id, type, signal = "" }: Order,
  steering: Steering,
  cancel: () => Promise<StopReport>,
  ports: Pick<KeeperPorts, "signalNumber">,
): Promise<Result<ControlResult, Failure>> {
  switch (type) {
    case "PAUSE": {
      const paused = await steering.pause()
      return paused.ok ? ok({ status: "paused", execution_id }) : paused
    }
    case "RESUME": {
      const resumed = await steering.resume()
      return resumed.ok ? ok({ status: "resumed", execution_id }) : resumed
    }
    case "CANCEL": {
      const { stopped: processes, survivors } = await cancel()
      return ok({ status: "canceled", execution_id, processes, survivors })
    }
    case "SIGNAL": {
      const number = ports.signalNumber(signal)
      if (number === null) {
        return fail(failure("INVALID_PARAMS", `Unknown signal: ${signal}.`))
      }
      const reached = steering.signal(number)
      return reached.ok
        ? ok({ status: "signaled", execution_id, processes: reached.value })
        : reached
    }
  }
}
