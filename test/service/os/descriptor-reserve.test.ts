import { describe, expect, test } from "bun:test"
import { DescriptorReserve } from "../../../src/service/os/descriptor-reserve.ts"
import { ownDescriptors } from "../../../src/service/os/own-descriptors.ts"
import { QuietLog } from "../../support/quiet-log.ts"

const plenty = { limit: 1024, open: () => 100 }

describe("the gateway's reserve of descriptors", () => {
  for (const code of ["EMFILE", "ENFILE"]) {
    test(`is there for what finds none: ${code}`, () => {
      using reserve = new DescriptorReserve(plenty, new QuietLog())
      const held = ownDescriptors().length
      let freed = 0

      const read = reserve.lend(() => {
        freed = held - ownDescriptors().length
        if (freed <= 0) throw Object.assign(new Error(code), { code })
        return "read"
      })

      expect(read).toBe("read")
      expect(freed).toBeGreaterThanOrEqual(16)
    })
  }

  test("is not touched for other reasons", () => {
    using reserve = new DescriptorReserve(plenty, new QuietLog())
    const failing = () => {
      throw Object.assign(new Error("EACCES"), { code: "EACCES" })
    }

    expect(() => reserve.lend(failing)).toThrow("EACCES")
  })
})
