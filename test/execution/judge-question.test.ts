import { describe, expect, test } from "bun:test"
import type { ApprovalRule } from "../../src/execution/approval-rule.ts"
import { ApprovalJudge, type OwnedRule } from "../../src/execution/judge-question.ts"

const rule = (name: string, more: Partial<OwnedRule>): OwnedRule => ({
  name,
  tool: "Bash",
  decide: "allow",
  from: "service",
  ...more,
})
const commandRule = (name: string, command: string, decide: ApprovalRule["decide"] = "allow") =>
  rule(name, { input: { command }, decide })

function judge(rules: OwnedRule[], input: unknown, tool = "Bash", directory = "/srv/work") {
  const {
    decide,
    rules: deciding,
    deadline,
  } = new ApprovalJudge(rules, directory).judge({
    tool,
    input,
  })
  return [decide, deciding.map(({ name }) => name).join(","), deadline] as const
}
const bash = (rules: OwnedRule[], command: string) => judge(rules, { command }).slice(0, 2)

describe("approval rules", () => {
  test("the first that matches decides, and without one a person is asked", () => {
    const rules = [commandRule("no", "rm .*", "deny"), commandRule("yes", "rm a|ls")]
    expect(bash(rules, "rm a")).toEqual(["deny", "no"])
    expect(bash(rules, "ls")).toEqual(["allow", "yes"])
    expect(bash(rules, "cat")).toEqual(["ask", ""])
    expect(bash([], "cat")).toEqual(["ask", ""])
  })

  test("match a tool by its name, or by how it begins", () => {
    const rules = [rule("all", { tool: "mcp__github__*" }), rule("one", { tool: "Edit" })]
    expect(judge(rules, {}, "mcp__github__list")[1]).toBe("all")
    expect(judge(rules, {}, "mcp__gitlab__list")[0]).toBe("ask")
    expect(judge(rules, {}, "Edit")[1]).toBe("one")
    expect(judge(rules, {}, "EditAll")[0]).toBe("ask")
    expect(judge([rule("any", { tool: "*" })], null, "X")[1]).toBe("any")
  })

  test("match the directory of the session, and what is below it", () => {
    const rules = [rule("here", { directory: "/srv/work" })]
    for (const [directory, decide] of [
      ["/srv/work", "allow"],
      ["/srv/work/a", "allow"],
      ["/srv/workshop", "ask"],
      ["/srv", "ask"],
    ] as const) {
      expect(judge(rules, {}, "Bash", directory)[0]).toBe(decide)
    }
  })

  const allowsTests = [commandRule("tests", "npm test( .*)?")]
  test.each([
    "npm test; rm -rf /",
    "npm test && rm x",
    "npm test || rm x",
    "npm test | sh",
    "npm test\nrm x",
    "npm test & rm x",
    "npm test $(rm x)",
    "npm test `rm x`",
    'npm test "$(rm x)"',
    "npm test > ~/.bashrc",
    "npm test >>x",
    "npm test <(rm x)",
    "npm test <<E\n$(rm x)\nE",
    "npm testing",
    "'npm test'",
    "PATH=/tmp npm test",
    "npm test {a,b}",
    "sudo npm test",
    "npm test \\\n; rm x",
    "npm test\u0000",
    "npm test\r\nrm x",
  ])("an allowed beginning does not allow %j", (command) => {
    expect(bash(allowsTests, command)).toEqual(["ask", ""])
  })

  test("every simple command of a line is judged, and the strictest verdict holds", () => {
    const rules = [...allowsTests, commandRule("tail", "tail( -\\d+)?")]
    expect(bash(rules, "npm test -- --x 2>&1 | tail -20")).toEqual(["allow", "tests,tail"])
    expect(bash([commandRule("no", "rm .*", "deny"), ...rules], "npm test; rm x")).toEqual([
      "deny",
      "no",
    ])
  })

  test("a rule that denies is not passed by what it cannot tell", () => {
    const rules = [commandRule("no", "rm .*", "deny"), rule("rest", {})]
    expect(bash(rules, "ls")).toEqual(["allow", "rest"])
    expect(bash(rules, "r\\m x")).toEqual(["deny", "no"])
    expect(bash(rules, "rm 'a\nb'")).toEqual(["deny", "no"])
    expect(bash(rules, "$(echo rm) x")).toEqual(["ask", "no"])
    expect(judge(rules, { command: ["rm"] }).slice(0, 2)).toEqual(["ask", "no"])
    expect(bash(rules, `rm ${"x".repeat(70_000)}`)).toEqual(["ask", "no"])
  })

  test("of a session come after the service's, and overrule none of them", () => {
    const service = [commandRule("no", "rm .*", "deny"), commandRule("look", "cat .*", "ask")]
    const session = [rule("all", { from: "session" })]
    expect(bash([...service, ...session], "rm x")).toEqual(["deny", "no"])
    expect(bash([...service, ...session], "cat x")).toEqual(["ask", "look"])
    expect(bash([...service, ...session], "rm $x")).toEqual(["ask", "no"])
    expect(bash([...service, ...session], "ls")).toEqual(["allow", "all"])
  })

  test("compare paths that lead where they say, and no others", () => {
    const write = (file_path: string) =>
      judge(
        [rule("w", { tool: "Write", input: { file_path: "/srv/work/.*" } })],
        { file_path },
        "Write",
      )
    expect(write("/srv/work/a.ts")[0]).toBe("allow")
    expect(write("a.ts")[0]).toBe("allow")
    for (const path of [
      "/srv/work/../../etc/passwd",
      "/srv/work/..",
      "../x",
      "/srv/work/./a",
      "/srv/work//a",
      "~/x",
      "/etc/passwd",
    ]) {
      expect(write(path)[0]).toBe("ask")
    }
  })

  test("need every field they name; numbers and booleans are compared as text", () => {
    const rules = [rule("f", { tool: "T", input: { a: "x", b: "1|true" } })]
    expect(judge(rules, { a: "x", b: 1 }, "T")[0]).toBe("allow")
    expect(judge(rules, { a: "x", b: true, c: "other" }, "T")[0]).toBe("allow")
    for (const input of [{ a: "x" }, { a: "xx", b: 1 }, { a: "x", b: null }, null, "x", []]) {
      expect(judge(rules, input, "T")[0]).toBe("ask")
    }
  })

  test("do not let a command leave the agent's sandbox, unless they say so", () => {
    const input = { command: "npm test", dangerouslyDisableSandbox: true }
    expect(judge(allowsTests, input)[0]).toBe("ask")
    expect(judge([rule("any", {})], input)[0]).toBe("ask")
    expect(judge([rule("no", { decide: "deny" })], input)[0]).toBe("deny")
    const named = { command: "npm test", dangerouslyDisableSandbox: "true" }
    expect(judge([rule("outside", { input: named })], input)[0]).toBe("allow")
  })

  test("decide later only where every part that is asked about says so", () => {
    const later = (name: string, command: string, after: string, then: "allow" | "deny") =>
      rule(name, { input: { command }, decide: "ask", after, then })
    const rules = [
      later("soon", "a", "10s", "allow"),
      later("late", "b", "1m", "allow"),
      later("never", "c", "30s", "deny"),
      commandRule("yes", "d"),
    ]
    expect(judge(rules, { command: "a; d" })).toEqual([
      "ask",
      "soon",
      { afterMs: 10_000, then: "allow" },
    ])
    expect(judge(rules, { command: "a; b" })[2]).toEqual({ afterMs: 60_000, then: "allow" })
    expect(judge(rules, { command: "a; b; c" })[2]).toEqual({ afterMs: 30_000, then: "deny" })
    expect(judge(rules, { command: "a; x" })).toEqual(["ask", "", null])
    expect(judge(rules, { command: "a > x" })).toEqual(["ask", "soon", null])
  })

  test("leave what a pattern is too complex for to a person", () => {
    const nested = `${"(".repeat(40)}${"a?".repeat(390)}${")*".repeat(40)}`
    expect(bash([commandRule("no", nested, "deny"), rule("rest", {})], "b")).toEqual(["ask", "no"])
    expect(bash([commandRule("yes", nested)], "a")).toEqual(["ask", ""])
  })

  test("end, where a pattern that looks back would go on for ever", () => {
    const rules = [commandRule("slow", "(a*)*b"), commandRule("slower", "(.*,){20}x")]
    expect(bash(rules, "a".repeat(60_000))).toEqual(["ask", ""])
  })
})
