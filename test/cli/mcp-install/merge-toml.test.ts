import { describe, expect, test } from "bun:test"
import { mergeToml } from "../../../src/cli/mcp-install/merge-toml.ts"
import type { Wanted } from "../../../src/cli/mcp-install/server-entry.ts"

const entry = { command: '/bin/"odd"\x7f', args: ["mcp", "--url", "ws://h"], env_vars: ["T"] }
const wanted: Wanted = { root: "mcp_servers", name: "cc-executor", entry, inputs: [] }

function merged(text: string, force = false): string {
  const outcome = mergeToml(text, wanted, { force })
  if (outcome.kind === "changed") return outcome.text
  throw new Error(`it was not changed: ${JSON.stringify(outcome)}`)
}

describe("a TOML file gets an entry", () => {
  test("at its end, and keeps every byte before it", () => {
    const before = `# mine\nmodel = "x"\nsince = 2026-11-16T12:00:00Z\n\n[mcp_servers.other]\n`
    const text = merged(before)

    expect(text).toBe(`${before}
[mcp_servers.cc-executor]
command = "/bin/\\"odd\\"\\u007f"
args = ["mcp", "--url", "ws://h"]
env_vars = ["T"]
`)
    expect(mergeToml(text, wanted, { force: false })).toEqual({ kind: "unchanged" })
  })

  test("where there is nothing yet, and with the line ends it has", () => {
    expect(Bun.TOML.parse(merged(""))).toEqual({ mcp_servers: { "cc-executor": entry } })
    expect(merged("a = 1\r\nb = 2").replaceAll("\r\n", "")).not.toContain("\n")
  })
})

describe("a TOML entry that is there already", () => {
  const other = `\
[mcp_servers.cc-executor]
command = "/old"
[mcp_servers.cc-executor.env]
A = "b"

[mcp_servers.after]
command = "x" # stays
`

  test("is replaced with all below it, when that was asked for", () => {
    expect(mergeToml(other, wanted, { force: false })).toEqual({ kind: "exists" })
    expect(Bun.TOML.parse(merged(other, true))).toEqual({
      mcp_servers: { "cc-executor": entry, after: { command: "x" } },
    })
    expect(merged(other, true)).toContain("# stays")
  })

  test.each([
    [`[mcp_servers.cc-executor]\n# why\ncommand = "/old"\n`, "contains comments"],
    [`mcp_servers = { cc-executor = { command = "/old" } }\n`, "does not allow another table"],
    [`[mcp_servers]\ncc-executor = { command = "/old" }\n`, "does not allow another table"],
  ])("is left alone in %j", (text, why) => {
    expect(mergeToml(text, wanted, { force: true })).toMatchObject({
      kind: "refused",
      why: expect.stringContaining(why),
    })
  })
})

test.each([
  ["a = \n", "it is not valid TOML"],
  ["mcp_servers = 1\n", "is not a table"],
  [`mcp_servers = { a = { command = "x" } }\n`, "does not allow another table"],
])("%j is refused", (text, why) => {
  expect(mergeToml(text, wanted, { force: false })).toMatchObject({
    kind: "refused",
    why: expect.stringContaining(why),
  })
})
