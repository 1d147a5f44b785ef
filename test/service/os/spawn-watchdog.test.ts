import { expect, test } from "bun:test"
import { spawnWatchdog } from "../../../src/service/os/spawn-watchdog.ts"

test("a watchdog that says nothing is waited for until its limit, and ended", async () => {
  const ended: Promise<number>[] = []
  const reaper = { isMine: (_: number, exited: Promise<number>) => void ended.push(exited) }
  const silent = [process.execPath, "-e", "setInterval(() => undefined, 1000)"]

  const options = { self: silent, env: process.env }
  const watched = await spawnWatchdog(options, reaper, { startMs: 300, takeOverMs: 60_000 })

  expect(watched).toEqual({ ok: false, failure: "It did not start within 0.3 s" })
  expect(await Promise.all(ended)).toEqual([137])
}, 20_000)
