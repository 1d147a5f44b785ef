import { describe, expect } from "bun:test"
import { connect } from "../../src/client/connect.ts"
import { followToEnd } from "../support/followed-output.ts"
import { fixture, runIndependently } from "../support/independent-run.ts"
import { Service } from "../support/service.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { testUnless } from "../support/test-unless.ts"
import { makeToken } from "../support/tokens.ts"
import { until } from "../support/until.ts"
import { reported } from "./support/evidence.ts"
import { noNamespace, WiredNamespace } from "./support/faults/wired-namespace.ts"

const reconnect = { firstDelayMs: 50, maxDelayMs: 200, giveUpAfterMs: null }
const limits = { greetingMs: 1000, silenceMs: 1000, silenceAnswerMs: 1000 }

describe("a network that loses every packet for a while, during a flood", () => {
  testUnless(
    noNamespace,
    "costs the socket, not the execution: its client misses no byte",
    reported("dropped packets", async (evidence) => {
      using network = new WiredNamespace()
      using state = temporaryFolder()
      const token = await makeToken(state.path, { name: "far-away" })
      await using service = await Service.start({
        stateDir: state.path,
        prefix: network.prefix,
        flags: { host: network.address, "stream-timeout": "2s" },
      })
      const states: string[] = []
      await using client = connect({
        url: await service.url(),
        token,
        reconnect,
        limits,
        onConnection: ({ kind }) => states.push(kind),
      })
      const argv = fixture("count-until-told.ts")
      const execution = await client.execute({ argv, stdin: "pipe", encoding: "binary" })
      let taken = 0
      const end = followToEnd(execution, (bytes) => {
        taken = bytes
      })
      await until("it flows", () => taken > 1_000_000)
      const times = () => service.log.filter((line) => line.includes("timed out")).length

      network.unplug()
      await until("the service gives the session up", () => times() === 1)
      await until("and the client, too", () => states.includes("waiting"))
      const before = taken
      network.plug()
      const pluggedAtMs = performance.now()
      await until("it flows again", () => taken > before + 1_000_000, 30_000)
      evidence.latency("back after the packets", performance.now() - pluggedAtMs)
      await execution.write("\n")
      const { bytes, hashes, completed, kinds } = await end

      const lines = completed.lines.stdout
      const { stdout } = await runIndependently(["seq", "1", `${lines}`])
      expect({ bytes: bytes.stdout, hash: hashes.stdout }).toEqual(stdout)
      expect(completed).toMatchObject({ outcome: "exited", exit_code: 7 })
      expect(kinds).toEqual(["started", "completed"])
      expect(times()).toBe(1)
    }),
    60_000,
  )
})
