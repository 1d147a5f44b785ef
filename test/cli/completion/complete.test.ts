import { describe, expect, test } from "bun:test"
import { complete } from "../../../src/cli/completion/complete.ts"
import { overview } from "../../../src/cli/help.ts"
import { fakeContext } from "../fake-context.ts"

/** The lines for words of which the last is being typed. */
async function linesFor(...words: string[]): Promise<string[]> {
  const context = fakeContext()
  expect(await complete(context, words)).toBe(0)
  expect(context.stderr.text()).toBe("")
  return context.stdout.text().split("\n").slice(0, -1)
}

async function valuesFor(...words: string[]): Promise<string[]> {
  return (await linesFor(...words)).map((line) => line.replace(/\t.*/, ""))
}

describe("the name of a command", () => {
  test("comes with what it does, and once", async () => {
    const lines = await linesFor("")

    expect(lines).toContain("ps\tlist executions")
    expect(lines.filter((line) => line.startsWith("mcp\t"))).toHaveLength(1)
    expect(lines).toContain("token\tcreate, new, show, list, revoke")
    expect(lines).toContain("help\tshow the help of a command")
  })

  test("may have two words, after `help` too", async () => {
    expect(await valuesFor("token", "")).toEqual(["create", "new", "show", "list", "revoke"])
    expect(await valuesFor("help", "token", "")).toEqual([
      "create",
      "new",
      "show",
      "list",
      "revoke",
    ])
    expect(await valuesFor("help", "")).toContain("run")
    expect(await valuesFor("help", "run", "")).toEqual([])
  })

  test("is not `__complete`, which help does not know either", async () => {
    expect((await valuesFor("")).filter((value) => value.startsWith("_"))).toEqual([])
    expect(overview()).not.toContain("__complete")
  })

  test("that does not exist has nothing to follow it", async () => {
    expect(await linesFor("nosuch", "")).toEqual([])
    expect(await linesFor("nosuch", "--")).toEqual([])
    expect(await linesFor()).toContain("ps\tlist executions")
  })
})

describe("an option", () => {
  test("comes with what it does", async () => {
    expect(await linesFor("ps", "-")).toContain("--watch\tkeep running, and show every change")
  })

  test("is not offered again, unless it may be given again", async () => {
    const left = await valuesFor("run", "-d", "--env", "A=b", "--")

    expect(left).not.toContain("--detach")
    expect(left).not.toContain("-d")
    expect(left).toContain("--env")
  })

  test("is offered where no operand is left", async () => {
    expect(await valuesFor("ps", "")).toContain("--watch")
    expect(await valuesFor("completions", "bash", "")).toEqual(["-h", "--help"])
    expect(await valuesFor("ps", "--", "")).toEqual([])
  })

  test("has its values, inline and in bash's pieces as well", async () => {
    const policies = ["drop-oldest", "block"]

    expect(await valuesFor("run", "--budget-policy", "")).toEqual(policies)
    expect(await valuesFor("run", "--budget-policy=dr")).toEqual(policies)
    expect(await valuesFor("run", "--budget-policy", "=")).toEqual(policies)
    expect(await valuesFor("run", "--budget-policy", "=", "dr")).toEqual(policies)
    expect(await valuesFor("run", "--nosuch=")).toEqual([])
    expect(await valuesFor("run", "--constructor=")).toEqual([])
  })

  test("leaves files and directories to the shell", async () => {
    expect(await linesFor("ps", "--token-file", "/e")).toEqual([":files"])
    expect(await linesFor("ps", "--token-file=/e")).toEqual([":files"])
    expect(await linesFor("ps", "--state-dir", "")).toEqual([":directories"])
  })
})

describe("another program's command line", () => {
  test("is the shell's to complete, from its first word on", async () => {
    expect(await linesFor("run", "")).toEqual([":command 1"])
    expect(await linesFor("run", "-d", "--", "ma")).toEqual([":command 1"])
    expect(await linesFor("run", "-d", "make", "--al")).toEqual([":command 2"])
    expect(await linesFor("run", "--", "--odd", "-x", "")).toEqual([":command 3"])
  })

  test("is counted in the words that bash has", async () => {
    const options = ["--env", "=", "A", "=", "b"]

    expect(await linesFor("run", ...options, "ma")).toEqual([":command 1"])
    expect(await linesFor("run", ...options, "make", "A", "=", "b", "")).toEqual([":command 5"])
  })
})

describe("an operand", () => {
  test("is one of those that its place has", async () => {
    expect(await valuesFor("signal", "")).toContain("USR1")
    expect(await valuesFor("completions", "")).toEqual(["bash", "zsh", "fish"])
    expect(await valuesFor("mcp", "install", "")).toContain("cursor")
  })
})
