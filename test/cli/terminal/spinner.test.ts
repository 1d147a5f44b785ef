import { describe, expect, test } from "bun:test"
import { spin } from "../../../src/cli/terminal/spinner.ts"
import { until } from "../../support/until.ts"
import { fakeContext, fakeOutput } from "../fake-context.ts"

const onTerminal = (env: Record<string, string> = {}) =>
  fakeContext({ stderr: fakeOutput({ isTty: true }), env: { TERM: "xterm", ...env } })

describe("a spinner", () => {
  test("turns on a terminal, and leaves nothing behind", async () => {
    const context = onTerminal()
    {
      await using _spinner = spin(context, "working…", 0)
      await until("it turns", () => context.stderr.text().includes("⠙ working…"))
    }

    expect(context.stderr.text()).toEndWith("\r\x1b[2K")
  })

  test("says nothing of what is quick", async () => {
    const context = onTerminal()
    {
      await using _spinner = spin(context, "working…", 60_000)
    }

    expect(context.stderr.text()).toBe("")
  })

  test.each([
    ["a pipe", fakeContext()],
    ["CI", onTerminal({ CI: "true" })],
    ["a dumb terminal", onTerminal({ TERM: "dumb" })],
  ])("is nothing for %s", async (_, context) => {
    {
      await using _spinner = spin(context, "working…", 0)
      await Promise.resolve()
    }

    expect(context.stderr.text()).toBe("")
  })
})
