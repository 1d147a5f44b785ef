/**
 * What a check names, by what it does with it. Only words are looked at: which of them are files is
 * for others to find out.
 */
export type NamedFiles = {
  /** What it runs, and what it tests with: if that changes, it is another check. */
  readonly means: readonly string[]
  /** What it only looks at: the work may be to change that. */
  readonly objects: readonly string[]
  /** Programs that find their tests, or what to do, by themselves. */
  readonly runners: readonly string[]
}

export function namedFiles(run: string): NamedFiles {
  const found = { means: new Set<string>(), objects: new Set<string>(), runners: new Set<string>() }
  let directory = ""
  for (const words of simpleCommands(run)) {
    const [name, ...rest] = withoutPrefixes(words)
    if (name === undefined) continue
    if (name === "cd" || name === "pushd") directory = joined(directory, rest[0] ?? "")
    for (const { kind, word } of roles(name, rest)) {
      if (kind === "runners") found.runners.add(word)
      else for (const path of pathsOf(word, directory)) found[kind].add(path)
    }
  }
  const means = [...found.means]
  const objects = [...found.objects].filter((path) => !found.means.has(path))
  return { means, objects, runners: [...found.runners] }
}

/** Whether a file is for testing by where it stands and how it is called. */
export function isTestLike(path: string): boolean {
  const parts = path.split("/")
  const base = parts.at(-1) ?? ""
  const folders = parts.slice(0, -1)
  if (folders.some((name) => /^(?:tests?|__tests__|specs?|e2e|testing|checks?)$/i.test(name))) {
    return true
  }
  return /(?:^|[._-])(?:tests?|specs?|check|checks|verify|conftest)(?:[._-]|$)/i.test(base)
}

/** Files by which a program finds out what to test, or how. */
export function settingsOf(runner: string): readonly string[] {
  return Object.hasOwn(settings, runner) ? (settings[runner] ?? []) : []
}

const ofPython = ["conftest.py", "pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml"]
const ofNode = ["package.json"]
const settings: Readonly<Record<string, readonly string[]>> = {
  pytest: ofPython,
  "py.test": ofPython,
  tox: ofPython,
  nox: [...ofPython, "noxfile.py"],
  make: ["Makefile", "makefile", "GNUmakefile"],
  npm: ofNode,
  npx: ofNode,
  yarn: ofNode,
  pnpm: ofNode,
  bun: [...ofNode, "bunfig.toml"],
  jest: ofNode,
  vitest: ofNode,
  mocha: ofNode,
  just: ["justfile", "Justfile"],
  rake: ["Rakefile"],
}

const interpreters =
  /^(?:(?:ba|da|z|k)?sh|python[\d.]*|node|nodejs|deno|ruby|perl|php|lua|tsx|ts-node|bun|source|\.)$/
const runners =
  /^(?:pytest|py\.test|tox|nox|nose2|unittest|jest|vitest|mocha|ava|tap|rspec|phpunit|bats|prove|ctest|cargo|go|npm|npx|yarn|pnpm|bun|make|just|rake|gradle|gradlew|mvn)$/
const prefixes = /^(?:env|timeout|nice|time|command|exec|nohup|stdbuf|sudo|xargs|if|then|else|elif|while|until|do|!|\{|\()$/

type Role = { kind: keyof NamedFiles; word: string }

function roles(name: string, rest: readonly string[]): Role[] {
  const base = name.split("/").at(-1) ?? name
  const operands = rest.filter((word) => !word.startsWith("-"))
  if (runners.test(base)) {
    return [{ kind: "runners", word: base }, ...asMeans([...own(name), ...operands])]
  }
  if (interpreters.test(base)) return interpreted(base, rest, operands)
  return [
    ...asMeans(own(name)),
    ...operands.map((word): Role => ({ kind: isTestLike(word) ? "means" : "objects", word })),
  ]
}

/** A program that is named by its path. */
function own(name: string): string[] {
  return name.includes("/") ? [name] : []
}

function asMeans(words: readonly string[]): Role[] {
  return words.map((word) => ({ kind: "means", word }))
}

function interpreted(base: string, rest: readonly string[], operands: readonly string[]): Role[] {
  const option = rest.findIndex((word) => /^-[a-z]*[cem]$/.test(word))
  if (option >= 0 && rest[option]?.endsWith("m") === true) {
    const [name, ...following] = rest.slice(option + 1)
    return name === undefined ? [] : roles(name, following)
  }
  const code = option < 0 ? undefined : rest[option + 1]
  if (code !== undefined) return withinCode(base, code)
  if (rest.includes("--test")) return asMeans(operands)
  const [program, ...others] = operands
  if (program === undefined) return []
  const more = others.map((word): Role => ({
    kind: isTestLike(word) ? "means" : "objects",
    word,
  }))
  return [{ kind: "means", word: program }, ...more]
}

/** `bash -c '…'` is a command line of its own; a text in another language may name files, too. */
function withinCode(base: string, code: string): Role[] {
  if (base.endsWith("sh")) {
    const { means, objects, runners: found } = namedFiles(code)
    return [
      ...asMeans(means),
      ...objects.map((word): Role => ({ kind: "objects", word })),
      ...found.map((word): Role => ({ kind: "runners", word })),
    ]
  }
  const words = code.match(/[\w./-]+/g) ?? []
  return words.filter(isTestLike).map((word) => ({ kind: "means", word }))
}

function withoutPrefixes(words: readonly string[]): readonly string[] {
  let at = 0
  let hasPrefix = false
  for (; at < words.length; at += 1) {
    const word = words[at] ?? ""
    if (/^\w+=/.test(word)) continue
    if (prefixes.test(word)) {
      hasPrefix = true
      continue
    }
    if (hasPrefix && (/^-/.test(word) || /^\d+[smhd]?$/.test(word))) continue
    break
  }
  return words.slice(at)
}

/** As written, and seen from the directory that the check has gone to. */
function pathsOf(word: string, directory: string): string[] {
  // `tests/test_a.py::test_one` is one test of a file.
  const path = word.replace(/::.*$/, "").replace(/^[<>&\d]+/, "").replace(/^(?:\.\/)+/, "")
  if (path === "" || path === "." || /^[/~$]|^\.\.(?:\/|$)|:\/\//.test(path)) return []
  const clean = path.replace(/\/+$/, "")
  return directory === "" ? [clean] : [joined(directory, clean), clean]
}

function joined(directory: string, path: string): string {
  const clean = path.replace(/^(?:\.\/)+/, "").replace(/\/+$/, "")
  if (clean === "" || clean === "." || /^[/~$]|^\.\./.test(clean)) return directory
  return directory === "" ? clean : `${directory}/${clean}`
}

/** The words between operators, unquoted. Good enough to find names; nothing is run by it. */
function simpleCommands(run: string): string[][] {
  const commands: string[][] = [[]]
  const token = /\\\n|(&&|\|\||[;|\n&()`]|\$\()|((?:[^\s;|&()`'"\\$]|\\.|\$(?!\()|'[^']*'|"(?:[^"\\]|\\.)*")+)/g
  for (const [, operator, word] of run.matchAll(token)) {
    if (operator !== undefined) commands.push([])
    else if (word !== undefined) commands.at(-1)?.push(unquoted(word))
  }
  return commands.filter((words) => words.length > 0)
}

function unquoted(word: string): string {
  return word.replace(/'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)/gs, (_, single, double, escaped) =>
    single ?? (double === undefined ? escaped : double.replace(/\\(["\\$`])/g, "$1")),
  )
}
