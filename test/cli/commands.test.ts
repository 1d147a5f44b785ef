import { describe, expect, test } from "bun:test"
import { type CommandEntry, commands, findCommand } from "../../src/cli/commands.ts"

const entry = (name: string): CommandEntry => ({
  name,
  group: "Connect",
  summary: "",
  load: () => Promise.reject(new Error("not for this test")),
})

describe("a word that is a command, and the first of two", () => {
  const among = [entry("mcp"), entry("mcp install"), entry("token list")]
  const found = (...argv: string[]) => {
    const command = findCommand(argv, among)
    return command === null ? null : [command.entry.name, ...command.rest]
  }

  test("names the longer command when its second word follows", () => {
    expect(found("mcp", "install", "--all")).toEqual(["mcp install", "--all"])
  })

  test("names the shorter one else", () => {
    expect(found("mcp")).toEqual(["mcp"])
    expect(found("mcp", "--url", "install")).toEqual(["mcp", "--url", "install"])
    expect(found("mcp", "remove")).toEqual(["mcp", "remove"])
  })

  test("leaves the other families as they are", () => {
    expect(found("token", "list")).toEqual(["token list"])
    expect(found("token")).toBeNull()
  })
})

describe("the list of commands", () => {
  test("has every name once", () => {
    const names = commands.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
  })
})
