import { describe, expect } from "bun:test"
import { readStat } from "../../src/service/os/proc.ts"
import { descendantsOf, zombiesOf } from "../support/real-processes.ts"
import { Steered, shell } from "../support/steered.ts"
import { testUnless } from "../support/test-unless.ts"
import { until } from "../support/until.ts"
import { Container } from "./support/container.ts"
import { images } from "./support/images.ts"
import { stateInside } from "./support/inside.ts"
import { imageTimeoutMs, noImages } from "./support/switch.ts"

const program = "/usr/local/bin/cc-executor"

/** All that can be run in the smaller image is the executable: a service inside the service. */
const innerService = { argv: [program, "serve", "--port", "none", "--state-dir", "/tmp/inner"] }

/** A leader, a child of it, and a grandchild that left its session. */
const family = shell(
  'sleep 1000 & echo "child $!"; setsid sh -c \'echo "escaped $$"; exec sleep 1000\' & ' +
    'echo "leader $$"; wait',
)

describe("an execution in a container", () => {
  testUnless(
    noImages,
    "is paused, resumed and cancelled with all of its tree (agent)",
    async () => {
      await using container = await Container.start(await images(), { image: "agent" })
      await using client = await container.client()
      const job = await Steered.start(client, family)
      const words = ["leader", "child", "escaped"]
      const lines = words.map((word) => job.untilLine(new RegExp(`^${word} (\\d+)$`)))
      const pids = (await Promise.all(lines)).map(([pid]) => Number(pid))
      const states = () => Promise.all(pids.map((pid) => stateInside(container, pid)))
      expect(await states()).toEqual(["S", "S", "S"])

      await job.execution.pause()
      expect(await states()).toEqual(["T", "T", "T"])
      expect((await job.status()).state).toBe("paused")

      await job.execution.resume()
      await until("all of it goes on", async () => (await states()).join("") === "SSS")
      expect((await job.status()).state).toBe("running")

      await job.execution.cancel()
      expect(await job.ended()).toMatchObject({ outcome: "stopped", cause: "client" })
      expect(await states()).toEqual([null, null, null])
    },
    imageTimeoutMs,
  )

  testUnless(
    noImages,
    "is paused, resumed and cancelled with all of its tree (runtime)",
    async () => {
      await using container = await Container.start(await images(), { image: "runtime" })
      await using client = await container.client()
      const { Pid: first } = await container.state()
      const own = descendantsOf(first).length
      const job = await Steered.start(client, innerService)
      await job.untilLine(/listening on unix:/)
      const inner = descendantsOf(first).slice(own)
      const states = () => inner.map(({ pid }) => readStat(pid)?.state ?? null)
      expect(inner).toHaveLength(2) // its keeper and its gateway

      await job.execution.pause()
      expect(states()).toEqual(["T", "T"])

      await job.execution.resume()
      await until("both go on", () => states().join("") === "SS")

      await job.execution.cancel()
      expect(await job.ended()).toMatchObject({ outcome: "stopped", cause: "client" })
      expect(states()).toEqual([null, null])
    },
    imageTimeoutMs,
  )

  testUnless(
    noImages,
    "leaves no zombies: a hundred escaped orphans of the first process are taken away",
    async () => {
      await using container = await Container.start(await images(), { image: "agent" })
      await using client = await container.client()
      const { Pid: first } = await container.state()
      const orphan = "until grep -q '^PPid:.1$' /proc/$$/status; do sleep 0.01; done; echo adopted"
      const all = `for _ in $(seq 100); do (setsid sh -c "$ORPHAN" &); done; exec sleep 1000`
      const job = await Steered.start(client, { ...shell(all), env: { ORPHAN: orphan } })

      await job.untilCount("adopted\n", 100)

      await until("only the gateway and the leader are left", () => {
        return descendantsOf(first).length === 2 && zombiesOf(first).length === 0
      })
      await job.execution.cancel()
      expect(await job.ended()).toMatchObject({ outcome: "stopped" })
      await until("its leader too is taken away", () => zombiesOf(first).length === 0)
    },
    imageTimeoutMs,
  )
})

describe("a container that is stopped", () => {
  testUnless(
    noImages,
    "ends with 0 within its grace, and what ran is recorded as stopped by the shutdown",
    async () => {
      await using container = await Container.start(await images(), { image: "agent" })
      await using client = await container.client()
      const stubborn = await Steered.start(client, shell("trap '' TERM; echo on; sleep 1000; wait"))
      await stubborn.untilLine(/^on$/)
      const { engine, name } = container

      await engine.docker("stop", name)
      const ended = await container.state()
      await engine.docker("start", name)
      await container.answers()
      await using again = await container.client()

      expect(ended).toMatchObject({ Status: "exited", ExitCode: 0, OOMKilled: false })
      expect(await again.call("status", { execution_id: stubborn.id })).toMatchObject({
        state: "ended",
        ending: { outcome: "stopped", cause: "shutdown" },
      })
    },
    imageTimeoutMs,
  )
})
