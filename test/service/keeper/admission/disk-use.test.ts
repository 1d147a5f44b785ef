import { describe, expect, test } from "bun:test"
import {
  type DiskSettings,
  DiskUse,
  type LiveShare,
} from "../../../../src/service/keeper/admission/disk-use.ts"
import type { Starter } from "../../../../src/service/keeper/admission/execution-slots.ts"
import { ManualClock } from "../../../support/manual-clock.ts"
import { sampleId } from "../../../support/sample-record.ts"

const ann = { principal: "ann", exempt: false }
const root = { principal: "root", exempt: true }
const none = { maxDiskBytes: Infinity, retainBytesPerPrincipal: Infinity }

let shares = 0
const share = (starter: Starter, bytes: number) => ({ id: sampleId(++shares), starter, bytes })

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
    const { disk } = stage({ maxDiskBytes: 300 }, [share(ann, 100), share(root, 200)])

    const full = { reason: "DISK_FULL", details: { retry_after: 1 } }
    expect(disk.refusal(ann)).toMatchObject(full)
    expect(disk.refusal(root)).toMatchObject(full)
  })

  test("over one principal's share let only that one start nothing", () => {
    const { disk } = stage({ retainBytesPerPrincipal: 100 }, [
      share(ann, 60),
      share(ann, 40),
      share(root, 900),
    ])

    expect(disk.refusal(ann)).toMatchObject({ reason: "AT_CAPACITY" })
    expect(disk.refusal({ ...ann, exempt: true })).toBeNull()
    expect(disk.refusal({ principal: "bob", exempt: false })).toBeNull()
    expect(disk.refusal(root)).toBeNull()
  })

  test("are looked at four times a second, however often somebody asks", () => {
    const live = [share(ann, 1)]
    const { clock, disk, looks } = stage({ maxDiskBytes: 100 }, live)
    for (let count = 0; count < 1000; count += 1) disk.refusal(ann)

    expect(looks()).toBe(1)
    live.push(share(ann, 100))
    clock.advance(250)
    expect(disk.refusal(ann)).not.toBeNull()
  })
})

describe("transcripts that have ended", () => {
  test("no longer count as live at once, without another look at all the others", () => {
    const [kept, small, large] = [share(ann, 60), share(ann, 40), share(root, 200)]
    const settings = { maxDiskBytes: 300, retainBytesPerPrincipal: 100 }
    const { disk, looks } = stage(settings, [kept, small, large])
    expect(disk.refusal(ann)).toMatchObject({ reason: "DISK_FULL" })

    disk.ended(large)
    expect(disk.refusal(ann)).toMatchObject({ reason: "AT_CAPACITY" })
    disk.ended(small)
    expect(disk.refusal(ann)).toBeNull()

    expect(disk.live().totalBytes).toBe(60)
    expect(disk.live().byPrincipal.get("ann")).toEqual({ liveBytes: 60, endedBytes: null })
    expect(looks()).toBe(1)
  })

  test("and wrote on after the last look take nothing of the others", () => {
    const growing = share(ann, 10)
    const { disk } = stage({}, [growing, share(ann, 500)])
    disk.live()

    disk.ended({ ...growing, bytes: 1000 })

    expect(disk.live()).toEqual({
      totalBytes: 500,
      byPrincipal: new Map([["ann", { liveBytes: 500, endedBytes: null }]]),
    })
  })

  test("need tidying as soon as all together are over the cap, until that was done", () => {
    const { disk } = stage({ maxDiskBytes: 300 }, [share(root, 200)])
    expect(disk.needsTidying()).toBe(false)

    disk.ended(share(root, 101))

    expect(disk.needsTidying()).toBe(true)
    disk.tidied(0, new Map())
    expect(disk.needsTidying()).toBe(false)
  })

  test("need tidying until it is known what a principal has, and when that is too much", () => {
    const { disk } = stage({ retainBytesPerPrincipal: 800 }, [])
    disk.ended(share(root, 5000))
    expect(disk.needsTidying()).toBe(false)
    disk.ended(share(ann, 1))
    expect(disk.needsTidying()).toBe(true)

    disk.tidied(5700, new Map([["ann", 700]]))

    expect(disk.needsTidying()).toBe(false)
    disk.ended(share(ann, 100))
    expect(disk.needsTidying()).toBe(false)
    disk.ended(share(ann, 1))
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
