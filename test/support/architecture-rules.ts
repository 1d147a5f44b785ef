import { posix } from "node:path"
import { readSource } from "./source-text.ts"

/** Path from the repository's root, with forward slashes → text. */
export type Sources = Map<string, string>

/** By module: the path of a folder or a file from `src/`; the longest path that fits counts. */
export type ImportRules = Map<string, ModuleRule>

export type ModuleRule = {
  mayImport: string[] | "everything" // modules, with all that is below them, or files
  purePackages: string[] | null // what a pure module may import of others; null: it is not pure
}

export type SizeRules = {
  softLines: number
  hardLines: number
  columns: number
  longFiles: string[]
}

type Import = { file: string; specifier: string; target: string | undefined }

/** Who imports whom: the table, pure modules, extensions, and no cycle between files. */
export function importViolations(sources: Sources, rules: ImportRules): string[] {
  const imports = [...sources].flatMap(([file, source]) => importsOf(file, source))
  return [
    ...imports.flatMap((one) => tableViolations(one, rules)),
    ...imports.flatMap((one) => specifierViolations(one, rules)),
    ...[...sources].flatMap(([file, source]) => purityViolations(file, source, rules)),
    ...[...sources].flatMap(([file, source]) => computedImports(file, source)),
    ...cycles(imports),
  ]
}

/** What the rules name and the source does not have. */
export function absentModules(sources: Sources, rules: ImportRules): string[] {
  const paths = [...sources.keys()].map(within)
  const named = [...rules].flatMap(([module, { mayImport }]) =>
    mayImport === "everything" ? [module] : [module, ...mayImport],
  )
  return [...new Set(named)].filter((module) => !paths.some((path) => isIn(path, module)))
}

/** Files that no row is about. */
export function filesWithoutRow(sources: Sources, rules: ImportRules): string[] {
  return [...sources.keys()].filter((file) => moduleOf(file, rules) === null)
}

/** The module of the table that a file belongs to. */
function moduleOf(file: string, rules: ImportRules): string | null {
  const path = within(file)
  const modules = [...rules.keys()].filter((module) => isIn(path, module))
  return modules.toSorted((one, other) => other.length - one.length)[0] ?? null
}

const importPatterns = [
  /\b(?:import|export)\b(?:\s+type\b)?[\w\s{},*$]*?\bfrom\s*["']([^"']+)["']/g,
  /\bimport\s*["']([^"']+)["']/g,
  /\b(?:import|require)\s*\(\s*["'`]([^"'`]+)["'`]/g,
]

function importsOf(file: string, source: string): Import[] {
  const text = readSource(source).withoutComments
  const specifiers = importPatterns
    .flatMap((pattern) => [...text.matchAll(pattern)])
    .flatMap((match) => (match[1] === undefined ? [] : [match[1]]))
  return specifiers.map((specifier) => ({
    file,
    specifier,
    target: specifier.startsWith(".")
      ? posix.normalize(posix.join(posix.dirname(file), specifier))
      : undefined,
  }))
}

function tableViolations({ file, target }: Import, rules: ImportRules): string[] {
  const from = moduleOf(file, rules)
  const rule = ruleOf(file, rules)
  if (target === undefined || rule?.mayImport === "everything") return []
  if (!target.startsWith("src/")) {
    return target === "package.json" ? [] : [`${file}: ${target} is outside src`]
  }
  if (rule === undefined) return [`${file}: has no row in the table`]
  const path = within(target)
  const isAllowed =
    from === moduleOf(target, rules) || rule.mayImport.some((module) => isIn(path, module))
  if (!isAllowed) return [`${file}: ${from} may not import ${path}`]
  const isPureEnough = rule.purePackages === null || ruleOf(target, rules)?.purePackages !== null
  return isPureEnough ? [] : [`${file}: pure, may not import ${path}, which is not`]
}

function specifierViolations({ file, specifier, target }: Import, rules: ImportRules): string[] {
  if (target !== undefined) {
    const explicit = /\.(?:tsx?|json|sql|html|css|txt|md|svg|bash|zsh|fish)$/.test(specifier)
    return explicit ? [] : [`${file}: "${specifier}" needs its .ts extension`]
  }
  const packages = ruleOf(file, rules)?.purePackages ?? null
  if (packages === null || packages.includes(specifier)) return []
  return [`${file}: pure, may not import "${specifier}"`]
}

// Reading YAML is as pure as reading JSON.
const impureNames = [
  "Bun(?!\\.YAML\\b)|process|performance|crypto",
  "setTimeout|setInterval|setImmediate|queueMicrotask",
].join("|")
// A global, not a property (`state.process`) nor a key (`process: 1`) of that name.
const impure = new RegExp(
  [
    `(?<![\\w$.])(?:${impureNames})\\b(?!\\s*\\??:)`,
    "\\bDate\\.now\\b|\\bnew Date\\(\\s*\\)|\\bMath\\.random\\b",
  ].join("|"),
  "g",
)

function purityViolations(file: string, source: string, rules: ImportRules): string[] {
  if ((ruleOf(file, rules)?.purePackages ?? null) === null) return []
  const found = [...readSource(source).codeOnly.matchAll(impure)].map((match) => match[0])
  return [...new Set(found)].map((name) => `${file}: pure, may not use ${name}`)
}

function computedImports(file: string, source: string): string[] {
  const computed = /\bimport\s*\(\s*(?!["'`\s])/.test(readSource(source).withoutComments)
  return computed ? [`${file}: import() of something other than a literal`] : []
}

function cycles(imports: Import[]): string[] {
  const targets = new Map<string, string[]>()
  for (const { file, target } of imports) {
    if (target !== undefined) targets.set(file, [...(targets.get(file) ?? []), target])
  }
  const finished = new Set<string>()
  const found: string[] = []
  const visit = (file: string, path: string[]) => {
    const seenAt = path.indexOf(file)
    if (seenAt !== -1) {
      found.push(`cycle: ${[...path.slice(seenAt), file].join(" → ")}`)
      return
    }
    if (finished.has(file)) return
    for (const target of targets.get(file) ?? []) visit(target, [...path, file])
    finished.add(file)
  }
  for (const file of targets.keys()) visit(file, [])
  return found
}

/** Names that hide a concept: barrels, junk drawers, layers named for nothing. */
export function nameViolations(files: string[]): string[] {
  const junk = /(?:^|\/)(?:index\.ts|types\.ts|(?:utils?|common|shared|helpers)(?:\.ts|\/))/
  const layer = /(?:^|[/-])(?:manager|service|handler)s?\.ts$/
  const kebab = /^(?:[a-z0-9-]+\/)*[a-z0-9]+(?:-[a-z0-9]+)*\.tsx?$/
  return files.flatMap((file) => [
    ...(junk.test(file) || layer.test(file) ? [`${file}: the name says nothing`] : []),
    ...(/\.tsx?$/.test(file) && !kebab.test(file) ? [`${file}: not kebab-case`] : []),
  ])
}

export function defaultExports(sources: Sources): string[] {
  const pattern = /\bexport\s+default\b|\bas\s+default\b/
  return [...sources].flatMap(([file, source]) =>
    pattern.test(readSource(source).codeOnly) ? [`${file}: default export`] : [],
  )
}

// No formatter breaks such a line, and nobody reads the path to its end.
const oneNameImport = /^import (?:type )?\{ (?:type )?\w+ \} from "[^"]+"$/

export function sizeViolations(sources: Sources, rules: SizeRules): string[] {
  return [...sources].flatMap(([file, source]) => {
    const lines = source.replace(/\n$/, "").split("\n")
    const limit = rules.longFiles.includes(file) ? rules.hardLines : rules.softLines
    const wide = lines.flatMap((line, index) =>
      Array.from(line).length > rules.columns && !oneNameImport.test(line)
        ? [`${file}:${index + 1}: over ${rules.columns} columns`]
        : [],
    )
    return lines.length > limit ? [`${file}: ${lines.length} lines, over ${limit}`, ...wide] : wide
  })
}

/** Addresses and paths that are true on one machine only. */
export function localTraces(sources: Sources, patterns: RegExp[]): string[] {
  return [...sources].flatMap(([file, source]) =>
    source
      .split("\n")
      .flatMap((line, index) =>
        patterns.some((pattern) => pattern.test(line))
          ? [`${file}:${index + 1}: ${line.trim().slice(0, 80)}`]
          : [],
      ),
  )
}

function ruleOf(file: string, rules: ImportRules): ModuleRule | undefined {
  return rules.get(moduleOf(file, rules) ?? "")
}

function isIn(path: string, module: string): boolean {
  return path === module || path.startsWith(`${module}/`)
}

function within(file: string): string {
  return file.replace(/^src\//, "")
}
