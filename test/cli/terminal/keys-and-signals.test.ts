import { describe, expect, test } from "bun:test"
import { Interrupts } from "../../../src/cli/terminal/interrupts.ts"

describe("signals to who drives an execution", () => {
  test("Ctrl-C cancels, and again detaches", () => {
    const interrupts = new Interrupts(true)

    expect(interrupts.answer("SIGINT")).toEqual({ kind: "cancel" })
    expect(interrupts.answer("SIGINT")).toEqual({ kind: "detach", exitCode: 130 })
    expect(interrupts.hasCanceled).toBe(true)
  })

  test("the end of this program or its terminal is not that of the execution", () => {
    expect(new Interrupts(true).answer("SIGTERM")).toEqual({ kind: "detach", exitCode: 143 })
    expect(new Interrupts(true).answer("SIGHUP")).toEqual({ kind: "detach", exitCode: 129 })
  })

  test("who only observes cancels nothing", () => {
    expect(new Interrupts(false).answer("SIGINT")).toEqual({ kind: "detach", exitCode: 130 })
  })
})
