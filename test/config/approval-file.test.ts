import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { readApprovalFile } from "../../src/config/approval-file.ts"
import { readPolicyFile } from "../../src/config/policy-file.ts"

const rule = "- name: tests\n  tool: Bash\n  decide: allow\n"

describe("a file of approval rules", () => {
  test("is a list of rules, each with a name, a tool and a decision", () => {
    const text = `
# what may be done without asking
- name: run-the-tests
  tool: Bash
  input:
    command: npm (test|run lint)( .*)?
  directory: /srv/work
  decide: allow
- name: no-pushes
  tool: Bash
  input:
    command: git push.*
  decide: deny
  message: A person pushes.
- name: issues
  tool: mcp__github__*
  decide: ask
  after: 10m
  then: deny
`
    expect(readApprovalFile(text)).toEqual({
      ok: true,
      value: [
        {
          name: "run-the-tests",
          tool: "Bash",
          input: { command: "npm (test|run lint)( .*)?" },
          directory: "/srv/work",
          decide: "allow",
        },
        {
          name: "no-pushes",
          tool: "Bash",
          input: { command: "git push.*" },
          decide: "deny",
          message: "A person pushes.",
        },
        { name: "issues", tool: "mcp__github__*", decide: "ask", after: "10m", then: "deny" },
      ],
    })
  })

  const wrong: [string, string, string][] = [
    ["- tool: Bash\n  decide: allow\n", "line 1, column 1: 0 → name", "`name: run-the-tests`"],
    [`${rule}- name: b\n  tool: Bash\n`, "line 4, column 1: 1 → decide", "`decide: allow`"],
    [rule.replace("allow", "alow"), "line 3, column 3: 0 → decide", "`deny` or `ask`"],
    [`${rule}  comand: x\n`, "line 4, column 3: 0: unknown: comand; a rule has", "`input`"],
    [`${rule}  input:\n    command: (a\n`, "line 5, column 5: 0 → input → command", "not closed"],
    [`${rule}  input:\n    command: ^a\n`, "line 5, column 5", "leave out `^`"],
    [`${rule}  input:\n    command: 5\n`, "line 5, column 5", "`command: 'npm (test|run lint)'`"],
    [`${rule}${rule}`, "line 4, column 3: 1 → name", "another rule called tests"],
    [rule.replace("Bash", "B*sh"), "line 2, column 3: 0 → tool", "`mcp__github__*`"],
    [rule.replace("tests", "a b"), "line 1, column 3: 0 → name", "`run-the-tests`"],
    [`${rule}  after: 10m\n  then: deny\n`, "line 4, column 3: 0 → after", "`decide: ask` waits"],
    [`${rule.replace("allow", "ask")}  after: 10m\n`, "line 4", "`after: 10m` and `then: deny`"],
    [
      `${rule.replace("allow", "ask")}  after: 10\n  then: deny\n`,
      "line 4, column 3",
      "`after: 10m`",
    ],
    [`${rule.replace("allow", "ask")}  after: 1ms\n  then: deny\n`, "line 4", "1s to 30d"],
    [`${rule}  message: no\n`, "line 4, column 3: 0 → message", "only a rule that denies"],
    [`${rule}  directory: work\n`, "line 4, column 3: 0 → directory", "`/srv/work`"],
    [`${rule}  tool: Edit\n`, "line 4, column 3: tool is listed twice", ""],
    [`${rule}  input: {command: a}\n`, "line 4, column 10: write each entry", "without braces"],
    [`${rule}- name: "b\n  tool: x\n`, "line 4, column 1: YAML", "for example"],
    [`${rule} x\n`, "line 4, column 2: YAML", "for example"],
    ["approval:\n- name: a\n", "line 1, column 1: write a list of rules", "`- name: …`"],
    ["", "line 1, column 1: write a list of rules", ""],
  ]
  test.each(wrong)("%j is refused: %s … %s", (text, place, advice) => {
    const read = readApprovalFile(text)
    expect(read.ok ? "" : read.failure).toStartWith(place)
    expect(read.ok ? "" : read.failure).toContain(advice)
  })

  test("is a section of the policy file as well, with its places there", () => {
    const text = `commands:\n  git: any\napproval:\n${rule}`
    expect(readPolicyFile(text)).toMatchObject({
      ok: true,
      value: { approval: [{ tool: "Bash" }] },
    })
    const read = readPolicyFile(text.replace("allow", "maybe"))
    expect(read.ok ? "" : read.failure).toStartWith("line 6, column 3: approval → 0 → decide")
  })

  test("of any other text is refused or read, but never throws", () => {
    fc.assert(fc.property(fc.string(), (text) => void readApprovalFile(text)))
    const piece = fc.constantFrom("- ", "name: a", "\n", "  ", "tool: *", "'", "[", "{", ": ", "|")
    fc.assert(fc.property(fc.array(piece), (pieces) => void readApprovalFile(pieces.join(""))))
  })
})
