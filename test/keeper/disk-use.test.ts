import { describe, expect, test } from "bun:test"
import { type DiskSettings, DiskUse, type LiveShare } from "../../src/keeper/disk-use.ts"
import { ManualClock } from "../support/manual-clock.ts"

const ann = { principal: "ann", exempt: false }
const root = { principal: "root", exempt: true }
const none = { maxDiskBytes: Infinity, retainBytesPerPrincipal: Infinity }

function stage(settings: Partial<DiskSettings>, live: LiveShare[]) {
  const clock = new ManualClock()
  let looks = 0
  const disk = new DiskUse({ ...none, ...settings }, clock, () => {
    looks += 1
    return live
  })
  return { clock, disk, looks: () => looks }
}

describe("live transcripts", () => {
  test("over the cap of all let nobody start anything", () => {
    const { disk } = stage({ maxDiskBytes: 300 }, [
      { starter: ann, bytes: 100 },
      { starter: root, bytes: 200 },
    ])

    const full = { reason: "DISK_FULL", details: { retry_after: 1 } }
    expect(disk.refusal(ann)).toMatchObject(full)
    expect(disk.refusal(root)).toMatchObject(full)
  })

  test("over one principal's share let only that one start nothing", () => {
    const { disk } = stage({ retainBytesPerPrincipal: 100 }, [
      { starter: ann, bytes: 60 },
      { starter: ann, bytes: 40 },
      { starter: root, bytes: 900 },
    ])

    expect(disk.refusal(ann)).toMatchObject({ reason: "AT_CAPACITY" })
    expect(disk.refusal({ ...ann, exempt: true })).toBeNull()
    expect(disk.refusal({ principal: "bob", exempt: false })).toBeNull()
    expect(disk.refusal(root)).toBeNull()
  })

  test("are looked at four times a second, however often somebody asks", () => {
    const live = [{ starter: ann, bytes: 1 }]
    const { clock, disk, looks } = stage({ maxDiskBytes: 100 }, live)
    for (let count = 0; count < 1000; count += 1) disk.refusal(ann)

    expect(looks()).toBe(1)
    live.push({ starter: ann, bytes: 100 })
    clock.advance(250)
    expect(disk.refusal(ann)).not.toBeNull()
  })
})

describe("transcripts that have ended", () => {
  test("need tidying as soon as all together are over the cap, until that was done", () => {
    const { disk } = stage({ maxDiskBytes: 300 }, [{ starter: root, bytes: 200 }])
    expect(disk.needsTidying()).toBe(false)

    disk.ended({ starter: root, bytes: 101 })

    expect(disk.needsTidying()).toBe(true)
    disk.tidied(0, new Map())
    expect(disk.needsTidying()).toBe(false)
  })

  test("need tidying until it is known what a principal has, and when that is too much", () => {
    const { disk } = stage({ retainBytesPerPrincipal: 800 }, [])
    disk.ended({ starter: root, bytes: 5000 })
    expect(disk.needsTidying()).toBe(false)
    disk.ended({ starter: ann, bytes: 1 })
    expect(disk.needsTidying()).toBe(true)

    disk.tidied(5700, new Map([["ann", 700]]))

    expect(disk.needsTidying()).toBe(false)
    disk.ended({ starter: ann, bytes: 100 })
    expect(disk.needsTidying()).toBe(false)
    disk.ended({ starter: ann, bytes: 1 })
    expect(disk.needsTidying()).toBe(true)
    expect([...disk.live().byPrincipal]).toEqual([["ann", { liveBytes: 0, endedBytes: 801 }]])
  })

  test("of many principals are not remembered for ever", () => {
    const { disk } = stage({ retainBytesPerPrincipal: 800 }, [])
    const many = Array.from({ length: 10_001 }, (_, number) => `one of many ${number}`)

    disk.tidied(0, new Map(many.map((name) => [name, 1])))
    disk.tidied(0, new Map())

    expect(disk.live().byPrincipal.size).toBe(0)
  })
})
