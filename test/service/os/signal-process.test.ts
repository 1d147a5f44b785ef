import { describe, expect, test } from "bun:test"
import { readStat } from "../../../src/service/os/proc.ts"
import { signalProcess } from "../../../src/service/os/signals.ts"
import { RealChild } from "../../support/real-child.ts"
import { isStillThere } from "../../support/real-processes.ts"
import { until } from "../../support/until.ts"
import { withoutDescriptors } from "../../support/without-descriptors.ts"

describe("a signal for a process that was seen", () => {
  test("reaches it", async () => {
    await using child = new RealChild("exec sleep 1000")
    const { identity } = child

    expect(signalProcess(identity, 15)).toBe(true)

    expect(await child.exited).toBe(143)
    expect(isStillThere(identity)).toBe(false)
  })

  test("is not taken for sent where nothing could be opened", async () => {
    await using child = new RealChild("exec sleep 1000")

    {
      using _short = withoutDescriptors()
      expect(() => signalProcess(child.identity, 15)).toThrow("EMFILE")
    }

    expect(isStillThere(child.identity)).toBe(true)
  })

  test("reaches nobody when its pid means another process by now", async () => {
    await using child = new RealChild("exec sleep 1000")
    const { identity } = child
    const earlier = { ...identity, startTicks: identity.startTicks - 1 }

    expect(signalProcess(earlier, 9)).toBe(false)

    expect(isStillThere(identity)).toBe(true)
    expect(readStat(identity.pid)?.state).not.toBe("Z")
  })

  test("reaches nobody when there is no such process any more", async () => {
    await using child = new RealChild("exit 0")
    const { pid } = child
    const stat = readStat(pid)
    await child.exited
    await until("it is reaped", () => readStat(pid) === null)

    expect(signalProcess({ pid, startTicks: stat?.startTicks ?? 0 }, 9)).toBe(false)
    expect(signalProcess({ pid: 4_194_303, startTicks: 1 }, 9)).toBe(false)
  })
})
