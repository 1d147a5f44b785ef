import { expect, test } from "bun:test"
import { ViewQueue } from "../../../src/client/watch/watch.ts"
import { ScriptedExecution } from "../../support/scripted-execution.ts"

test("a watcher that falls far behind still gets the latest of every execution", () => {
  const queue = new ViewQueue()
  const one = new ScriptedExecution(1, null, {})
  const two = new ScriptedExecution(2, null, {})

  queue.push(two.view())
  for (let count = 0; count < 5_000; count += 1) {
    one.state = count % 2 === 0 ? "paused" : "running"
    queue.push(one.view())
  }
  one.state = "ended"
  queue.push(one.view())

  const states = new Map<string, string>()
  let taken = 0
  for (let view = queue.shift(); view !== undefined; view = queue.shift()) {
    states.set(view.execution_id, view.state)
    taken += 1
  }
  expect(taken).toBeLessThan(1_001)
  expect([...states.values()].toSorted()).toEqual(["ended", "running"])
})
