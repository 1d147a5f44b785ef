import { isInterpreter, prefixes, settingsOf, taskRunners, testRunners } from "./program-words.ts"

/**
 * What a check names, by what it does with it. Only words are looked at: which of them are files is
 * for others to find out.
 */
export type NamedFiles = {
  /** What it tests with: files, and folders of them. */
  readonly tests: readonly string[]
  /** What it runs besides. */
  readonly programs: readonly string[]
  /** What it only looks at: the work may be to change that. */
  readonly objects: readonly string[]
  /** Programs that find their tests, or what to do, by themselves. */
  readonly runners: readonly string[]
}

export function namedFiles(run: string): NamedFiles {
  const found = newFound()
  let directory = ""
  for (const words of simpleCommands(run)) {
    const [name, ...rest] = withoutPrefixes(words)
    if (name === undefined) continue
    if (name === "cd" || name === "pushd") {
      directory = joined(directory, rest[0] ?? "")
      continue
    }
    for (const { kind, word } of roles(name, rest)) {
      if (kind === "runners") found.runners.add(word)
      else for (const path of pathsOf(word, directory)) found[kind].add(path)
    }
  }
  const { tests, programs, objects, runners } = found
  return {
    tests: [...tests],
    programs: [...programs].filter((path) => !tests.has(path)),
    objects: [...objects].filter((path) => !tests.has(path) && !programs.has(path)),
    runners: [...runners],
  }
}

function newFound(): Record<keyof NamedFiles, Set<string>> {
  return { tests: new Set(), programs: new Set(), objects: new Set(), runners: new Set() }
}

/** Which of the files that were written a check uses to test, rather than only tests. */
export function filesUsed(run: string, written: readonly string[]): string[] {
  const { tests, runners } = namedFiles(run)
  const ofRunners = new Set(runners.flatMap(settingsOf))
  return written.filter((path) => {
    if (path.split("/").some((name) => leftByPrograms.has(name))) return false
    if (tests.some((test) => path === test || path.startsWith(`${test}/`))) return true
    if (runners.length === 0) return false
    return isTestLike(path) || ofRunners.has(path.split("/").at(-1) ?? "")
  })
}

/** Whether a check reads a file, and does neither run it nor test with it. */
export function isOnlyLookedAt(run: string, path: string): boolean {
  const other = "looked-at.txt" // by its own name, a file could be a test
  const { objects, programs, tests } = namedFiles(run.replaceAll(path, other))
  return objects.includes(other) && !programs.includes(other) && !tests.includes(other)
}

/** What programs leave behind that run tests, and nobody writes. */
export const leftByPrograms: ReadonlySet<string> = new Set([
  "__pycache__",
  ".pytest_cache",
  ".mypy_cache",
  ".ruff_cache",
  "node_modules",
  ".git",
])

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

type Role = { kind: keyof NamedFiles; word: string }

function roles(name: string, rest: readonly string[]): Role[] {
  const base = name.split("/").at(-1) ?? name
  const operands = rest.filter((word) => !word.startsWith("-"))
  if (testRunners.has(base) || taskRunners.has(base)) {
    // What other words mean to these depends: `npm run build` has nothing to do with a folder.
    const named = taskRunners.has(base) ? operands.filter(isTestLike) : operands
    return [{ kind: "runners", word: base }, ...own(name), ...asTests(named)]
  }
  if (isInterpreter(base)) return interpreted(base, rest, operands)
  return [...own(name), ...operands.map((word) => byItsName(word, "objects"))]
}

/** A program that is named by its path. */
function own(name: string): Role[] {
  return name.includes("/") ? [byItsName(name, "programs")] : []
}

function byItsName(word: string, kind: Role["kind"]): Role {
  return { kind: isTestLike(word) ? "tests" : kind, word }
}

function asTests(words: readonly string[]): Role[] {
  return words.map((word) => ({ kind: "tests", word }))
}

function interpreted(base: string, rest: readonly string[], operands: readonly string[]): Role[] {
  // Shells take code by -c, and -e means something else to them.
  const takesCode = base.endsWith("sh") ? /^-[a-z]*c$/ : /^-[a-z]*[cem]$/
  const option = rest.findIndex((word) => takesCode.test(word))
  const [code = "", ...following] = option < 0 ? [] : rest.slice(option + 1)
  if (rest[option]?.endsWith("m") === true) return roles(code, following)
  if (option >= 0) return withinCode(base, code)
  if (rest.includes("--test")) return asTests(operands)
  const [program, ...others] = operands
  if (program === undefined) return []
  return [byItsName(program, "programs"), ...others.map((word) => byItsName(word, "objects"))]
}

/** `bash -c '…'` is a command line of its own; a text in another language may name files, too. */
function withinCode(base: string, code: string): Role[] {
  if (!base.endsWith("sh")) {
    return asTests((code.match(/[\w./-]+/g) ?? []).filter(isTestLike))
  }
  const { tests, programs, objects, runners } = namedFiles(code)
  const as =
    (kind: Role["kind"]) =>
    (word: string): Role => ({ kind, word })
  return [
    ...asTests(tests),
    ...programs.map(as("programs")),
    ...objects.map(as("objects")),
    ...runners.map(as("runners")),
  ]
}

function withoutPrefixes(words: readonly string[]): readonly string[] {
  let at = 0
  let hasPrefix = false
  for (; at < words.length; at += 1) {
    const word = words[at] ?? ""
    if (/^\w+=/.test(word)) continue
    if (prefixes.has(word)) {
      hasPrefix = true
      continue
    }
    if (hasPrefix && (word.startsWith("-") || /^\d+[smhd]?$/.test(word))) continue
    break
  }
  return words.slice(at)
}

/** As written, and seen from the directory that the check has gone to. */
function pathsOf(word: string, directory: string): string[] {
  // `tests/test_a.py::test_one` is one test of a file.
  const path = word
    .replace(/::.*$/, "")
    .replace(/^[<>&\d]+/, "")
    .replace(/^(?:\.\/)+/, "")
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
  const token =
    /\\\n|(&&|\|\||[;|\n&()`]|\$\()|((?:[^\s;|&()`'"\\$]|\\.|\$(?!\()|'[^']*'|"(?:[^"\\]|\\.)*")+)/g
  for (const [, operator, word] of run.matchAll(token)) {
    if (operator !== undefined) commands.push([])
    else if (word !== undefined) commands.at(-1)?.push(unquoted(word))
  }
  return commands.filter((words) => words.length > 0)
}

function unquoted(word: string): string {
  const quoted = /'(?<single>[^']*)'|"(?<double>(?:[^"\\]|\\.)*)"|\\(?<plain>.)/gs
  let text = ""
  let at = 0
  for (const { 0: whole, index, groups = {} } of word.matchAll(quoted)) {
    const { single, double, plain } = groups
    const inside = double?.replace(/\\(["\\$`])/g, "$1")
    text += word.slice(at, index) + (single ?? inside ?? plain ?? "")
    at = index + whole.length
  }
  return text + word.slice(at)
}
