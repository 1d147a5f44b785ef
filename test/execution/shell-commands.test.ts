import { describe, expect, test } from "bun:test"
import { shellCommands } from "../../src/execution/shell-commands.ts"

describe("a line for the shell", () => {
  const read: [string, string[]][] = [
    ["npm test", ["npm test"]],
    ["  npm \t test  ", ["npm test"]],
    ["npm test; rm -rf /", ["npm test", "rm -rf /"]],
    ["npm test;rm x", ["npm test", "rm x"]],
    ["a && b || c | d\ne", ["a", "b", "c", "d", "e"]],
    ["a &&\n\n b\n", ["a", "b"]],
    ["npm test 2>&1 | tail -20", ["npm test", "tail -20"]],
    ["a >/dev/null 2>/dev/null </dev/null; b &> /dev/null", ["a", "b"]],
    [`np"m" 'te'st`, ["npm test"]],
    ["r\\m -r\\f x", ["rm -rf x"]],
    [`'git log' "a b" c\\;d`, ["'git log' 'a b' 'c;d'"]],
    [`echo "it's" ''`, ["echo 'it'\\''s' ''"]],
    [`echo "a\\"\\$b\\q"`, [`echo 'a"$b\\q'`]],
    ["echo 'a\nb'", ["echo 'a\nb'"]],
    ["np\\\nm test", ["npm test"]],
    ["ls *.ts '*'", ["ls *.ts '*'"]],
    ["git log --format=%h ~/x a#b", ["git log --format=%h ~/x a#b"]],
  ]
  test.each(read)("%j is %j", (line, commands) => {
    expect(shellCommands(line)).toEqual({ ok: true, value: commands })
  })

  const unread: [string, string][] = [
    ["npm test $(rm x)", "`$`"],
    ["npm test $HOME", "`$`"],
    ["npm test $'a'", "`$`"],
    ["npm test `rm x`", "backticks"],
    [`npm test "$(rm x)"`, "`$`"],
    ['npm test "`rm x`"', "backticks"],
    ["npm test > x", "redirection"],
    ["npm test>x", "redirection"],
    ["npm test 2>x", "redirection"],
    ["npm test >/dev/null/../../tmp/x", "redirection"],
    ["npm test >/dev/nullx", "redirection"],
    ["npm test >&2\u3000x", "redirection"],
    ["npm test >/dev/null\u00a0x", "redirection"],
    ["npm test < x", "redirection"],
    ["npm test <(rm x)", "redirection"],
    ["npm test <<E\nrm\nE", "redirection"],
    ["npm test & rm x", "background"],
    ["npm test 2>/dev/null& rm x", "redirection"],
    ["npm test |& rm x", "background"],
    ["(npm test)", "parentheses"],
    ["{ npm test; }", "braces"],
    ["npm {test,x}", "braces"],
    ["npm test # ; rm", "comment"],
    ["PATH=. npm test", "assignment"],
    ["'PATH'=. npm test", "assignment"],
    ["if true; then rm x; fi", "`if`"],
    ["! npm test", "`!`"],
    ["[[ a ]]", "`[[`"],
    ["[ a ]", "pattern"],
    ["/bin/r? x", "pattern"],
    ["ls *'a b'", "half quoted"],
    ["npm test 'x", "not closed"],
    ['npm test "x', "not closed"],
    ["npm test \\", "backslash"],
    ["npm test &&", "operator"],
    ["; npm test", "no command before"],
    ["a ;; b", "no command before"],
    ["npm test\rrm x", "control"],
    ["npm test\0", "control"],
    ["a;".repeat(51), "more than 50"],
    ["a ".repeat(40_000), "characters"],
    ["", "no words"],
    [" \n ", "no words"],
  ]
  test.each(unread)("%j is not read: %s", (line, why) => {
    const commands = shellCommands(line)
    expect(commands.ok ? commands.value.join(" / ") : commands.failure).toContain(why)
    expect(commands.ok).toBe(false)
  })

  test("is split into the words that bash makes of it", () => {
    for (const [line, commands] of read) {
      if (commands.length !== 1 || /[*~]/.test(line)) continue
      const shown = (text: string) =>
        Bun.spawnSync(["bash", "-c", `set -- ${text}\nprintf '[%s]' "$@"`]).stdout.toString()
      expect(shown(commands[0] ?? "")).toBe(shown(line))
    }
  })
})
