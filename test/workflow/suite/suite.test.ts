import { describe, expect, test } from "bun:test"
import { jsonFaultText, readJson } from "../../../src/lib/json/read-json.ts"
import { selectCategories } from "../../../src/workflow/suite/select-categories.ts"
import { type Suite, SuiteFile } from "../../../src/workflow/suite/suite.ts"
import { wayOfRunning } from "../../../src/workflow/suite/way-of-running.ts"

function suiteOf(categories: unknown, more: Record<string, unknown> = {}): Suite {
  const read = readJson(JSON.stringify({ task_list_id: "S", categories, ...more }), SuiteFile)
  if (!read.ok) throw new Error(read.failure.map(jsonFaultText).join("\n"))
  return read.value.value
}

function faultsIn(text: string): string[] {
  const read = readJson(text, SuiteFile)
  return read.ok ? [] : read.failure.map(jsonFaultText)
}

const oneTest = (fields: Record<string, unknown>) => {
  const suite = suiteOf({ c: { tests: [{ id: "t", ...fields }] } })
  return suite.categories[0]?.tests[0]
}

describe("a suite of the first generation", () => {
  test("has what is expected beside a test, or in its verification", () => {
    const beside = oneTest({ command: "date", expected_patterns: ["202"], timeout: 30 })
    const inside = oneTest({
      command: "date",
      verification: { expected_patterns: ["202"], timeout: 30, stall_timeout: 5, marker: "M" },
    })

    expect(beside).toMatchObject({ timeoutSeconds: 30, patterns: [{ kind: "text", text: "202" }] })
    expect(inside).toMatchObject({ ...beside, stallSeconds: 5 })
  })

  test("calls its tests tasks or tests", () => {
    const { categories } = suiteOf({
      a: { description: "first", tasks: [{ id: "1", command: "x" }] },
      b: { tests: [{ id: 2, name: "Two", natural_language_request: "say it" }] },
    })

    expect(categories.map(({ name, tests }) => [name, tests.map(({ id }) => id)])).toEqual([
      ["a", ["1"]],
      ["b", ["2"]],
    ])
  })

  test("has timeouts of a test, of its category, or of all", () => {
    const tests = [
      { id: "own", command: "x", timeout: "2m" },
      { id: "none", command: "x" },
    ]
    const timeouts = (suite: Suite) =>
      suite.categories.flatMap((one) => one.tests.map(({ timeoutSeconds }) => timeoutSeconds))
    const usual = { execution_config: { default_timeout: 9 } }

    expect(timeouts(suiteOf({ c: { timeout: 60, tests } }, usual))).toEqual([120, 60])
    expect(timeouts(suiteOf({ c: { tests } }, usual))).toEqual([120, 9])
    expect(timeouts(suiteOf({ c: { tests } }))).toEqual([120, null])
  })

  test("is refused with the line and column of what is wrong", () => {
    const text = '{"task_list_id": "S", "categories": {"c": {"tests": [\n  {"id": "t"}\n]}}}'

    expect(faultsIn(text)).toEqual([
      "line 2, column 3: categories → c → tests → 0: " +
        "needs a `command` or a `natural_language_request`",
    ])
    expect(faultsIn('{"task_list_id": "S",\n "categories": {},}')[0]).toStartWith(
      "line 2, column 18",
    )
    expect(faultsIn("[]")).toHaveLength(1)
  })

  test.each([
    ["", "an empty pattern is found in everything"],
    ["a\nb", "it has only one"],
    [{ regex: ".*" }, "it matches the empty text"],
    [{ regex: "(a" }, "this group is not closed"],
    [{ regexp: "a" }, 'Unrecognized key: "regexp"'],
    [7, "must be a text of one line"],
  ])("may not expect the pattern %j", (pattern, why) => {
    const fields = { id: "t", command: "x", expected_patterns: [pattern] }
    const faults = faultsIn(
      JSON.stringify({ task_list_id: "S", categories: { c: { tests: [fields] } } }),
    )

    expect(faults).toHaveLength(1)
    expect(faults[0]).toContain(why)
  })
})

describe("categories", () => {
  const tests = [{ id: "t", command: "x" }]
  const suite = suiteOf({ simple: { tests }, complex: { tests }, constructor: { tests } })
  const selected = (...names: string[]) => {
    const found = selectCategories(suite, names)
    return found.ok ? found.value.map(({ name }) => name) : found.failure
  }

  test("are all of them, or those that are named, in the order of the file", () => {
    expect(selected()).toEqual(["simple", "complex", "constructor"])
    expect(selected("complex", "simple")).toEqual(["simple", "complex"])
  })

  test("that are not there are told, with what was meant", () => {
    expect(selected("simpel")).toBe(
      "There is no category simpel: there are simple, complex, constructor. Did you mean simple?",
    )
    expect(selected("toString")).toStartWith("There is no category toString")
  })
})

describe("a request", () => {
  const request = 'say "$(touch pwned)"'

  test("is given to a template as a variable, and never becomes part of a command line", () => {
    const act = {
      kind: "request",
      request,
      template: 'agent "${METATAGS} ${REQUEST}"',
      tags: "[a]",
    } as const

    expect(wayOfRunning(act, null)).toEqual({
      kind: "command",
      command: act.template,
      variables: { REQUEST: request, METATAGS: "[a]" },
    })
    expect(wayOfRunning(act, "claude")).toEqual({ kind: "session", request })
    expect(wayOfRunning(act, "sh a.sh")).toEqual({ kind: "agent", command: "sh a.sh", request })
  })

  test("goes to Claude Code where the file does not say how", () => {
    const act = { kind: "request", request, template: null, tags: "" } as const

    expect(wayOfRunning(act, null)).toEqual({ kind: "session", request })
  })

  test("leaves a command alone that has no place for it", () => {
    const act = { kind: "request", request, template: "claude --no-such-flag", tags: "" } as const

    expect(wayOfRunning(act, "sh a.sh")).toMatchObject({ command: "claude --no-such-flag" })
  })
})
