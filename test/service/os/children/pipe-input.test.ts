import { describe, expect, test } from "bun:test"
import { closeSync, readSync } from "node:fs"
import { isErrno } from "../../../../src/lib/errno.ts"
import { PipeInput } from "../../../../src/service/os/children/pipe-input.ts"
import { makePipe, setNonblocking } from "../../../../src/service/os/libc.ts"
import { settled } from "../../../support/manual-clock.ts"
import { until } from "../../../support/until.ts"

const lots = new Uint8Array(1_000_000).fill(1)

describe("writing to a child's pipe", () => {
  test("takes what fits, and the rest as it is read", async () => {
    const { readFd, writeFd } = makePipe()
    const input = new PipeInput(writeFd)
    let isDone = false
    const writing = input.write(lots).finally(() => {
      isDone = true
    })
    await settled()
    expect(isDone).toBe(false)

    setNonblocking(readFd)
    let read = 0
    await until("all is read", () => {
      read += readWhatIsThere(readFd)
      return read === lots.length
    })

    expect(await writing).toBe(lots.length)
    input.close()
    expect(readSync(readFd, new Uint8Array(1))).toBe(0)
    closeSync(readFd)
  })

  test("is given up when it is closed, with what was taken", async () => {
    const { readFd, writeFd } = makePipe()
    const input = new PipeInput(writeFd)
    const writing = input.write(lots)
    await settled()

    input.close()
    input.close()

    const taken = await writing
    expect(taken).toBeGreaterThanOrEqual(65_536)
    expect(taken).toBeLessThan(lots.length)
    expect(await input.write(lots)).toBe(0)
    closeSync(readFd)
  })

  test("ends when nobody reads any more, and throws nothing", async () => {
    const { readFd, writeFd } = makePipe()
    const input = new PipeInput(writeFd)
    const writing = input.write(lots)
    await settled()

    closeSync(readFd)

    expect(await writing).toBeLessThan(lots.length)
    expect(await input.write(lots)).toBe(0)
  })
})

function readWhatIsThere(fd: number): number {
  try {
    return readSync(fd, new Uint8Array(1_000_000))
  } catch (error) {
    if (!isErrno(error, "EAGAIN")) throw error
    return 0
  }
}
