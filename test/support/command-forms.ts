import { hostile, hostileName } from "./hostile-text.ts"

export type Attempt = readonly string[]

const hostilePrompt =
  `---\nname: ${JSON.stringify(hostileName)}\nagent: "true"\n` +
  `checks: [${JSON.stringify(`echo '${hostileName}'; false`)}]\n---\n# ${hostileName}\n`

/** Works that say something hostile wherever they can. */
export const hostileWorks: Readonly<Record<string, string>> = {
  "PROMPT.md": hostilePrompt,
  "OTHER.md": hostilePrompt,
  "SUITE.json": JSON.stringify({
    task_list_id: hostileName,
    categories: {
      [hostileName]: {
        tests: [
          {
            id: hostileName,
            command: `echo '${hostileName}'`,
            expected_patterns: ["never said"],
          },
        ],
      },
    },
  }),
  "TASKS.md":
    `---\nagent: "true"\n---\n# ${hostileName}\n\n- [x] **T01 – ${hostileName}**\n` +
    `  Check: \`echo '${hostileName}'; false\`\n- [ ] **T02 – ${hostileName}**\n`,
  "001_a_review_request.md":
    `---\nreview: 001_a\nreviewer: "echo x > 001_a_fixes.json"\n` +
    `checks: [${JSON.stringify(`echo '${hostileName}'`)}]\n---\n# ${hostileName}\n`,
  "001_a_fixes.json": JSON.stringify({
    review_id: hostile,
    fixes: [
      { id: "1", severity: "MAJOR", issue: hostile, test: hostile },
      { id: hostileName, severity: "NIT", issue: hostile, test: { run: `false '${hostileName}'` } },
    ],
  }),
}

export const names = [`${hostile}1`, `${hostile}2`, `${hostile}3`] as const

/** Every command, in the forms that show something of others. `ID` is an execution's. */
export const forms: Record<string, readonly Attempt[]> = {
  run: [
    ["--", "true"],
    ["-d", "--name", hostileName, "--", "true"],
    ["--cwd", "/no", "true"],
  ],
  rerun: [["ID"], ["-d", "ID"], ["-d", names[0]]],
  attach: [["ID"], ["--observe", "ID"], ["--scrollback", "5", "ID"]],
  wait: [["ID"], ["--any", "ID"]],
  claude: [["-d", "do"], ["do"], []],
  inbox: [[], ["--json"]],
  "agent attach": [["ID"]],
  "agent status": [["ID"], ["--json", "ID"]],
  "agent send": [["ID", "text"]],
  "agent answer": [
    ["ID", "q1", "allow"],
    ["ID", hostile, "deny", "-m", hostile],
  ],
  "agent interrupt": [["ID"]],
  "agent configure": [["--model", hostile, "ID"], ["ID"]],
  "agent changes": [["ID"], ["--json", "ID"]],
  "agent take": [["ID"]],
  "agent drop": [["ID"], ["--force", "ID"]],
  "agent end": [["ID"]],
  "prompt new": [["NEW"]],
  "prompt check": [["PROMPT.md"], ["TASKS.md"], [hostileName]],
  "prompt run": [["PROMPT.md"], ["--json", "PROMPT.md"], ["-d", "PROMPT.md"]],
  "prompt compare": [
    ["-n", "1", "PROMPT.md", "OTHER.md"],
    ["-n", "1", "--json", "PROMPT.md", "OTHER.md"],
    ["PROMPT.md", "TASKS.md"],
  ],
  "prompt graduate": [["PROMPT.md"], ["--json", "PROMPT.md"]],
  "tasks new": [["NEW"], ["--blueprint", hostileName]],
  "tasks check": [["TASKS.md"], ["--json", "TASKS.md"], ["PROMPT.md"]],
  "tasks run": [["TASKS.md"], ["--task", hostileName, "TASKS.md"]],
  "tasks status": [["TASKS.md"], ["--json", "TASKS.md"], ["PROMPT.md"]],
  "tasks accept": [["TASKS.md", "T02", "--why", hostile]],
  "tasks report": [["TASKS.md"], ["--json", "TASKS.md"]],
  "review request": [
    ["new", "TASKS.md"],
    [hostileName, "TASKS.md"],
    ["new", hostileName],
  ],
  "review run": [["001_a_review_request.md"], [hostileName]],
  "review fix": [["001_a_fixes.json"], ["--fix", hostileName, "001_a_fixes.json"]],
  "review status": [["001_a_fixes.json"], ["--json", "001_a_fixes.json"], ["TASKS.md"]],
  "review verification": [["001_a_fixes.json", "1", "--run", hostile, "--by", hostile]],
  "review usage": [["001_a_review_request.md"], ["--json", "001_a_review_request.md"]],
  "review check": [
    ["TASKS.md", "001_a_fixes.json"],
    [hostileName, hostileName],
  ],
  "review submit": [["001_a_review_request.md"]],
  adopt: [["TASKS.md"], ["--json", "PROMPT.md"]],
  render: [["TASKS.md", "PROMPT.md"]],
  "suite run": [
    ["SUITE.json"],
    ["--json", "SUITE.json"],
    ["SUITE.json", "--categories", hostile],
    ["PROMPT.md"],
  ],
  badge: [["PROMPT.md"], ["TASKS.md"], ["-o", hostileName, "PROMPT.md"], [hostileName]],
  "resume-work": [[], ["--json"]],
  ps: [["-a"], ["-a", "--json"], ["-a", "-q"], ["--watch"], ["--watch", "--json"], ["-a", "-i"]],
  inspect: [["ID"], ["--json", "ID"], [names[0]]],
  logs: [
    ["ID"],
    ["-f", "-t", "ID"],
    ["--raw", "ID"],
    ["--plain", "ID"],
    ["--screen", "ID"],
    ["--search", "e", "ID"],
    ["--search", hostile, "-t", "ID"],
    [],
  ],
  "notify ls": [[], ["--json"], ["--execution", "ID"], ["--target", hostile]],
  "notify test": [["oncall"], [hostile]],
  pause: [["ID"]],
  resume: [["ID"]],
  cancel: [["ID"], ["--all"]],
  signal: [["TERM", "ID"]],
  send: [
    ["ID", "text"],
    ["--end", "ID"],
  ],
  receipt: [["ID"], ["--json", "ID"], ["--public-key"]],
  verify: [["ID"], ["--json", "ID"], ["--offline", "ID"], ["TASKS.md"]],
  audit: [[], ["--json"], ["--verify"], ["--follow"]],
  rm: [["ID"], [names[1]]],
  prune: [["--all", "--force"], ["--all"]],
  "context add": [["--url", "URL", "a"]],
  "context use": [["a"], [hostile]],
  "context list": [[], ["--json"]],
  "context show": [[]],
  "context remove": [["a"]],
  "token create": [["--name", "a"]],
  "token new": [[]],
  "token show": [[], ["--json"]],
  "token list": [[], ["--json"]],
  "token revoke": [["a"], [hostile]],
  mcp: [[]],
  "mcp install": [["--list"], ["claude-code"], ["codex"], ["cursor", "--write"]],
  bridge: [
    ["--to", "URL"],
    ["--to", "HTTP/mcp", "--log-level", "debug"],
    ["--", "sh", "-c", "read x; echo $x"],
  ],
  "node ls": [[], ["--json"]],
  "node drain": [[hostile]],
  "node undrain": [[hostile]],
  "node forget": [[hostile]],
  serve: [["--port", "none"]],
  stop: [[]],
  upgrade: [[], ["--json"]],
  doctor: [[], ["--json"]],
  policy: [
    ["check", "--", hostileName],
    ["check", "--json", "--allowed-commands", "a", "b"],
    ["check", "--tool", hostile, "--input", JSON.stringify({ command: hostile })],
    ["check", "--json", "--tool", "Bash"],
  ],
  healthcheck: [[], ["--url", "URL"]],
  completions: [["bash"], ["zsh"], ["fish"]],
  version: [[], ["--json"]],
}
