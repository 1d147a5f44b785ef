import { describe, expect, test } from "bun:test"
import { readStat } from "../../../src/service/os/proc.ts"
import { Reaper } from "../../../src/service/os/reaper.ts"
import { RealChild } from "../../support/real-child.ts"
import { subreaper } from "../../support/subreaper.ts"
import { until } from "../../support/until.ts"
import { withoutDescriptors } from "../../support/without-descriptors.ts"

describe("a reaper", () => {
  test("takes the zombies of adopted orphans away", async () => {
    using _adopting = subreaper()
    using reaper = new Reaper()
    await using child = new RealChild("(sh -c 'echo \"orphan $$\"; exec sleep 1000' &); sleep 1000")
    reaper.isMine(child.pid, child.exited)
    const orphan = await child.told("orphan")
    await until("it is ours", () => readStat(orphan.pid)?.parent === process.pid)

    process.kill(orphan.pid, "SIGKILL")

    await until("it is reaped", () => readStat(orphan.pid) === null)
  })

  test("goes on where nothing could be opened when one had come", async () => {
    using _adopting = subreaper()
    using reaper = new Reaper()
    await using child = new RealChild("(sh -c 'echo \"orphan $$\"; exec sleep 1000' &); sleep 1000")
    reaper.isMine(child.pid, child.exited)
    const orphan = await child.told("orphan")
    await until("it is ours", () => readStat(orphan.pid)?.parent === process.pid)

    {
      using _short = withoutDescriptors()
      process.kill(orphan.pid, "SIGKILL")
      process.emit("SIGCHLD", "SIGCHLD")
      await Bun.sleep(100) // its timers come meanwhile, and what they throw would fail the test
      expect(() => reaper.reapOrphans()).toThrow("EMFILE")
    }

    await until("it is reaped", () => readStat(orphan.pid) === null)
  })

  test("leaves Bun its own children, whose exit codes are not lost", async () => {
    using _adopting = subreaper()
    using reaper = new Reaper()

    const codes = await Promise.all(
      Array.from({ length: 50 }, async (_, code) => {
        const child = Bun.spawn(["sh", "-c", `exit ${code}`])
        reaper.isMine(child.pid, child.exited)
        expect(reaper.isOwnChild(child.pid)).toBe(true)
        reaper.reapOrphans()
        return child.exited
      }),
    )

    expect(codes).toEqual(Array.from({ length: 50 }, (_, code) => code))
  })

  test("forgets a child that has ended: its pid may come back as an orphan's", async () => {
    using _adopting = subreaper()
    using reaper = new Reaper()
    const child = Bun.spawn(["true"])
    reaper.isMine(child.pid, child.exited)

    await child.exited
    await Promise.resolve()

    expect(reaper.isOwnChild(child.pid)).toBe(false)
  })

  test("that is to wait leaves every end to be learnt until it is told", async () => {
    using _adopting = subreaper()
    using reaper = new Reaper("when told")
    await using child = new RealChild("(sh -c 'echo \"orphan $$\"; exec sleep 1000' &); sleep 1000")
    reaper.isMine(child.pid, child.exited)
    const { pid } = await child.told("orphan")
    await until("it is ours", () => readStat(pid)?.parent === process.pid)
    const adopted = reaper.adopt(pid)

    process.kill(pid, "SIGKILL")
    await until("it has ended", () => readStat(pid)?.state === "Z")
    reaper.reapOrphans()
    process.emit("SIGCHLD", "SIGCHLD")
    expect(readStat(pid)?.state).toBe("Z")

    reaper.begin()
    expect((await adopted).status & 0x7f).toBe(9)
  })
})
