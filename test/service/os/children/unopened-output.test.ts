import { describe, expect, test } from "bun:test"
import { closeSync, fstatSync, readSync, writeSync } from "node:fs"
import { UnopenedOutput } from "../../../../src/service/os/children/unopened-output.ts"
import { makePipe } from "../../../../src/service/os/libc.ts"

describe("an output that nobody has read yet", () => {
  test("is all there for somebody else", async () => {
    const { readFd, writeFd } = makePipe()
    const output = new UnopenedOutput(readFd)
    writeSync(writeFd, "here")
    await Bun.sleep(0) // a turn in which Bun would read ahead

    expect(output.handOver()).toBe(readFd)
    const bytes = Buffer.alloc(8)
    expect(bytes.toString("utf8", 0, readSync(readFd, bytes))).toBe("here")
    expect(await output.read()).toBeNull()
    for (const fd of [readFd, writeFd]) closeSync(fd)
  })

  test("is read from its first byte on", async () => {
    const { readFd, writeFd } = makePipe()
    const output = new UnopenedOutput(readFd)
    writeSync(writeFd, "here")
    closeSync(writeFd)

    expect(Buffer.from((await output.read()) ?? []).toString()).toBe("here")
    expect(await output.read()).toBeNull()
  })

  test("is closed when nobody wants it", () => {
    const { readFd, writeFd } = makePipe()
    new UnopenedOutput(readFd).cancel()

    expect(() => fstatSync(readFd)).toThrow("EBADF")
    closeSync(writeFd)
  })
})
