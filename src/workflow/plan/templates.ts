/** Works that explain themselves. */

export function promptTemplate(name: string): string {
  return `---
name: ${yamlText(name)}
description: What this prompt makes an agent do, in one sentence
agent: claude   # or a command: it reads the prompt from standard input
checks:
  # Each must fail before the agent begins, and pass when it has finished.
  - {run: "test -s RESULT.md", red: base}
guards: []      # commands that must pass before and after, such as npm run lint
setup: []       # what checks need in a fresh copy, such as npm ci
recovery:
  # What has gone wrong once. Three of them are needed to graduate.
  - {run: "grep -q '^# ' RESULT.md", red: base}
  - {run: "test $(wc -l < RESULT.md) -ge 3", red: base}
  - {run: "grep -qv TODO RESULT.md", red: base}
graduation: {ratio: 10, of: life}
---

# ${name}

Write RESULT.md. Replace this text by what an agent is to do. It sees everything from here on, in a
fresh copy of this directory; what the checks test with, and this file, it must not change.

<!-- cc-executor:begin metrics -->
<!-- cc-executor:end -->
`
}

export function tasksTemplate(name: string): string {
  return `# ${name}

Every task with a check is done by an agent, in this order. Its box is ticked when its check was
seen to fail before, and to pass after. Commands in other places of this file are never run.

- [ ] **T01 – Say what is to be done**
  Goal: what is different when it is done.
  Check: \`test -s RESULT.md\`

- [ ] **T02 – The next one finds what T01 has done**
  Goal: a second thing.
  Check: \`grep -q '^# ' RESULT.md\`

- [ ] **T03 – Something that no command can check**
  Goal: a person accepts it with \`cc-executor tasks accept\`.
`
}

/** As it stands behind a key: in quotes, where it could be taken for something else. */
export function yamlText(text: string): string {
  const isPlain =
    /^[a-z_][\w.-]*$/i.test(text) && !/^(?:true|false|null|yes|no|on|off)$/i.test(text)
  return isPlain ? text : JSON.stringify(text)
}
