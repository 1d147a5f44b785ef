import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { mergeJson } from "../../../src/cli/mcp-install/merge-json.ts"
import type { Wanted } from "../../../src/cli/mcp-install/server-entry.ts"

const entry = { command: "/bin/cc-executor", args: ["mcp"] }
const wanted: Wanted = { root: "mcpServers", name: "cc-executor", entry, inputs: [] }
const input = { type: "promptString", id: "token", description: "t", password: true } as const
const careful = { force: false, comments: true }

function merged(text: string, options = careful, into = wanted): string {
  const outcome = mergeJson(text, into, options)
  if (outcome.kind === "changed") return outcome.text
  throw new Error(`it was not changed: ${JSON.stringify(outcome)}`)
}

describe("a file of settings gets an entry, and keeps", () => {
  test("its indentation, its order, its comments and its trailing commas", () => {
    const before = `\
// mine
{
\t"theme": "One", // nice
\t/* the servers */ "mcpServers": {
\t\t// the first
\t\t"other": { "command": "x" }, // and its end
\t\t// nothing more
\t},
\t"last": [1, 2,],
}
`
    expect(merged(before)).toBe(`\
// mine
{
\t"theme": "One", // nice
\t/* the servers */ "mcpServers": {
\t\t// the first
\t\t"other": { "command": "x" }, // and its end
\t\t// nothing more
\t\t"cc-executor": {
\t\t\t"command": "/bin/cc-executor",
\t\t\t"args": [
\t\t\t\t"mcp"
\t\t\t]
\t\t},
\t},
\t"last": [1, 2,],
}
`)
  })

  test("a comment behind the value that needs a comma now", () => {
    const before = `{\n    "a": 1 // one, not two\n}`

    expect(merged(before)).toStartWith(`{\n    "a": 1, // one, not two\n    "mcpServers": {\n`)
    expect(merged(before)).toEndWith("\n    }\n}")
  })

  test("its line ends and its byte order mark", () => {
    const text = merged('\ufeff{\r\n  "a": 1\r\n}\r\n')

    expect(text).toStartWith('\ufeff{\r\n  "a": 1,\r\n  "mcpServers": {\r\n    "cc-executor": {')
    expect(text.replaceAll("\r\n", "")).not.toContain("\n")
  })

  test("its one line", () => {
    const line = JSON.stringify({ "cc-executor": entry })

    expect(merged('{"a":1}\n')).toBe(`{"a":1, "mcpServers": ${line}}\n`)
    expect(merged('{"mcpServers":{}}')).toBe(`{"mcpServers":${line.replace(":{", ": {")}}`)
  })

  test("an empty object that a comment explains", () => {
    const text = merged('{\n  "mcpServers": { // none yet\n  }\n}\n')

    expect(text).toStartWith('{\n  "mcpServers": { // none yet\n    "cc-executor": {\n      "comm')
    expect(text).toEndWith("\n    }\n  }\n}\n")
  })

  test("numbers and texts that a rewrite would change", () => {
    const odd = '"n": 1.0e+02, "big": 12345678901234567890, "t": "\\u0041\\/"'

    expect(merged(`{ ${odd} }`)).toStartWith(`{ ${odd}, "mcpServers": `)
  })

  test("what is in any JSON document, whatever it is", () => {
    const documents = fc.tuple(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.constantFrom(undefined, 1, 2, 4, "\t"),
      fc.boolean(),
    )
    fc.assert(
      fc.property(documents, ([document, indent, hasServers]) => {
        const before = hasServers ? { ...document, mcpServers: { a: {} } } : document
        const servers = hasServers ? { a: {}, "cc-executor": entry } : { "cc-executor": entry }
        if (!hasServers && Object.hasOwn(document, "mcpServers")) return

        const text = merged(JSON.stringify(before, null, indent))

        const after: unknown = JSON.parse(text)
        expect(after).toEqual(JSON.parse(JSON.stringify({ ...before, mcpServers: servers })))
        expect(mergeJson(text, wanted, careful)).toEqual({ kind: "unchanged" })
      }),
    )
  })
})

describe("an entry that is there already", () => {
  const other =
    '{ "mcpServers": { "cc-executor": { "args": ["mcp"], "command": "/old" }, "b": 1 } }'

  test("is left alone when it says the same, in whatever order", () => {
    const same = other.replace("/old", entry.command)

    expect(mergeJson(same, wanted, careful)).toEqual({ kind: "unchanged" })
  })

  test("is replaced only when that was asked for", () => {
    expect(mergeJson(other, wanted, careful)).toEqual({ kind: "exists" })
    expect(merged(other, { ...careful, force: true })).toBe(
      `{ "mcpServers": { "cc-executor": ${JSON.stringify(entry)}, "b": 1 } }`,
    )
  })

  test("is replaced where it stands, in line with what is around it", () => {
    const before = '{\n  "mcpServers": { "cc-executor": {}, "b": 1 }\n}\n'

    expect(merged(before, { ...careful, force: true })).toBe(`\
{
  "mcpServers": { "cc-executor": {
    "command": "/bin/cc-executor",
    "args": [
      "mcp"
    ]
  }, "b": 1 }
}
`)
  })

  test("is never replaced with comments in it", () => {
    const commented = other.replace('"/old"', '"/old" /* why */')

    expect(mergeJson(commented, wanted, { ...careful, force: true })).toEqual({
      kind: "refused",
      why: 'its entry "cc-executor" contains comments, which would be lost',
    })
  })
})

describe("questions to the user", () => {
  const asking: Wanted = { ...wanted, inputs: [input] }

  test("are added once, beside those that are asked already", () => {
    const text = merged('{\n  "inputs": [\n    { "id": "a" }\n  ]\n}\n', careful, asking)

    expect(JSON.parse(text).inputs).toEqual([{ id: "a" }, input])
    expect(text).toContain('    { "id": "a" },\n    {\n      "type": "promptString"')
    expect(mergeJson(text, asking, careful)).toEqual({ kind: "unchanged" })
  })

  test("stay as their user has put them", () => {
    const text = merged('{"inputs":[{"id":"token","description":"Mine"}]}', careful, asking)

    expect(JSON.parse(text).inputs).toEqual([{ id: "token", description: "Mine" }])
  })
})

describe("a file is refused that", () => {
  test.each([
    ["{", "line 1, column 2"],
    ['{\n  "a": 1\n  "b": 2 }', "line 3, column 3: expected a comma or }"],
    ["{ a: 1 }", 'expected a key in "quotes"'],
    ['{ "a": 01 }', "this is not a JSON value"],
    ['{ "a": "\n" }', "this is not a JSON value"],
    ['{ "a": "b }', "a string is not closed"],
    ['{ "a": yes }', "expected a value"],
    ["{,}", 'expected a key in "quotes"'],
    ["{} {}", "expected the end of the file"],
    ["{ /* }", "expected a"],
    ["[]", "is not an object"],
    ['{ "mcpServers": [] }', '"mcpServers" is not an object'],
    ['{ "mcpServers": {}, "mcpServers": {} }', 'has the key "mcpServers" twice'],
    ['{ "mcpServers": { "cc-executor": 1, "cc-executor": 2 } }', "twice"],
  ])("reads %j", (text, why) => {
    const outcome = mergeJson(text, wanted, careful)

    expect(outcome).toMatchObject({ kind: "refused", why: expect.stringContaining(why) })
  })

  test.each([
    ['{ "a": 1 } // no', "comments"],
    ['{ "a": 1, }', "a trailing comma"],
  ])("its client cannot read: %j", (text, what) => {
    const outcome = mergeJson(text, wanted, { ...careful, comments: false })

    expect(outcome).toMatchObject({ kind: "refused", why: expect.stringContaining(what) })
  })

  test("nests thousands of lists in each other", () => {
    const outcome = mergeJson("[".repeat(5_000), wanted, careful)

    expect(outcome).toMatchObject({ why: expect.stringContaining("nested too deeply") })
  })

  test("asks its questions somewhere else", () => {
    const outcome = mergeJson('{ "inputs": {} }', { ...wanted, inputs: [input] }, careful)

    expect(outcome).toMatchObject({ kind: "refused", why: expect.stringContaining('"inputs"') })
  })
})

test("an empty file is no file", () => {
  expect(JSON.parse(merged(" \n"))).toEqual({ mcpServers: { "cc-executor": entry } })
})

test("a text of megabytes is read, with all its escapes", () => {
  const before = JSON.stringify({ history: 'a "quoted"\n line '.repeat(200_000) })

  expect(JSON.parse(merged(before))).toEqual({
    ...JSON.parse(before),
    mcpServers: { "cc-executor": entry },
  })
})
