import { describe, expect, test } from "bun:test"
import type { ExecutionView } from "../../../src/protocol/execution-view.ts"
import { failure } from "../../../src/protocol/failure.ts"
import { quickClient, rejection } from "../../support/following.ts"
import { ScriptedServer } from "../../support/scripted-server.ts"

describe("a watch", () => {
  test("tells every change from when it is ready", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    using watch = client.watch()
    await watch.ready

    const execution = server.add()
    server.announce(execution)
    server.change(execution, "paused")
    server.complete(execution, 0)

    expect(await take(watch, 3)).toEqual(["b running", "b paused", "b ended"])
  })

  test("tells only what bears its labels, whatever others want", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    using red = client.watch({ color: "red" })
    using blue = client.watch({ color: "blue" })
    await Promise.all([red.ready, blue.ready])

    server.announce(server.add({ color: "red" }))
    server.announce(server.add({ color: "blue" }))

    expect(await take(blue, 1)).toEqual(["c running"])
    expect(await take(red, 1)).toEqual(["b running"])
  })

  test("survives a reconnect and tells what changed meanwhile, each once", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    const ends = server.add()
    const pauses = server.add()
    const stays = server.add()
    const endedBefore = server.add()
    endedBefore.state = "ended"
    using watch = client.watch()
    await watch.ready

    await server.stop()
    ends.state = "ended"
    pauses.state = "paused"
    server.add().state = "ended"
    server.add()
    server.start()
    const told = await take(watch, 4)
    server.complete(stays, 0)

    expect(told.toSorted()).toEqual(["b ended", "c paused", "f ended", "g running"])
    expect(await take(watch, 1)).toEqual(["d ended"])
  })

  test("trusts what it was told over a list that was made before", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    const execution = server.add()
    using watch = client.watch()
    await watch.ready

    await server.stop()
    execution.state = "paused"
    const serve = { kind: "serve" } as const
    const told = Promise.withResolvers<void>()
    server.next("list", serve, serve, serve, { kind: "answer-after", event: told.promise })
    const listed = server.seen("list").length
    server.start()
    await server.until(() => server.seen("list").length === listed + 4)
    server.complete(execution, 0)
    told.resolve()
    await server.until(() => server.seen("list").length === listed + 7)
    await client.call("list", {})
    server.announce(server.add())

    expect(await take(watch, 2)).toEqual(["b ended", "c running"])
  })

  test("ends when it is disposed", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    const watch = client.watch()
    await watch.ready

    const reading = Array.fromAsync(watch)
    watch[Symbol.dispose]()

    expect(await reading).toEqual([])
  })

  test("that is refused fails with the reason", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    server.next("watch", { kind: "refuse", failure: failure("FORBIDDEN", "Not for you.") })
    using watch = client.watch()

    const error = await rejection(watch.ready)

    expect(error).toMatchObject({ failure: { reason: "FORBIDDEN" } })
    expect(await rejection(Array.fromAsync(watch))).toBe(error)
  })
})

/** The next so many views, as "last letter of the id, state". */
async function take(watch: AsyncIterable<ExecutionView>, count: number): Promise<string[]> {
  const told: string[] = []
  for await (const view of watch) {
    told.push(`${view.execution_id.at(-1)} ${view.state}`)
    if (told.length === count) break
  }
  return told
}
