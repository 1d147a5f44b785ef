import { describe, expect, test } from "bun:test"
import { asksForHelp, readArguments } from "../../src/cli/arguments.ts"

const options = {
  detach: { type: "boolean", short: "d", about: "" },
  env: { type: "string", short: "e", multiple: true, value: "NAME=VALUE", about: "" },
  cwd: { type: "string", about: "" },
  help: { type: "boolean", short: "h", about: "" },
} as const

describe("arguments of a command", () => {
  test("are options and operands in any order", () => {
    const { values, operands } = readArguments(["a", "-d", "--cwd", "/x", "b"], options, false)

    expect(operands).toEqual(["a", "b"])
    expect(values).toEqual({ detach: true, cwd: "/x" })
  })

  test("repeat an option that may be given more than once", () => {
    const { values } = readArguments(["-eA=1", "--env", "B=2", "--env=C=3"], options, false)

    expect(values.env).toEqual(["A=1", "B=2", "C=3"])
  })

  test("are operands only after --", () => {
    const { values, operands } = readArguments(["x", "--", "-d", "--nonsense"], options, false)

    expect(operands).toEqual(["x", "-d", "--nonsense"])
    expect(values.detach).toBeUndefined()
  })
})

describe("arguments that hold another command line", () => {
  test("leave it alone from its first word on", () => {
    const { values, operands } = readArguments(["-d", "ls", "-d", "--all"], options, true)

    expect(values.detach).toBe(true)
    expect(operands).toEqual(["ls", "-d", "--all"])
  })

  test("leave it alone after --, even where it begins with a dash", () => {
    const { operands } = readArguments(["-d", "--", "-x", "--", "y"], options, true)

    expect(operands).toEqual(["-x", "--", "y"])
  })

  test("ask for help only before it", () => {
    expect(asksForHelp(["--help"], options, true)).toBe(true)
    expect(asksForHelp(["-d", "-h"], options, true)).toBe(true)
    expect(asksForHelp(["ls", "--help"], options, true)).toBe(false)
    expect(asksForHelp(["--", "--help"], options, true)).toBe(false)
    expect(asksForHelp(["--nonsense", "--help"], options, true)).toBe(true)
  })
})

describe("arguments that are wrong", () => {
  test.each([
    [["--detahc"], "Unknown option: --detahc. Did you mean --detach?"],
    [["-q"], "Unknown option: -q."],
    [["--detach=yes"], "--detach does not take a value."],
    [["--cwd"], "--cwd needs a value: --cwd=VALUE."],
    [["--cwd", "-d"], "--cwd needs a value: --cwd=VALUE."],
    [["-e"], "-e needs a value: -e=NAME=VALUE."],
  ])("%j", (argv, message) => {
    expect(() => readArguments(argv, options, false)).toThrow(message)
  })

  test("may still begin a value with a dash, if it is joined", () => {
    expect(readArguments(["--cwd=-x"], options, false).values.cwd).toBe("-x")
  })
})
