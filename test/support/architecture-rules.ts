import { posix } from "node:path"
import { readSource } from "./source-text.ts"

/** Path from the repository's root, with forward slashes → text. */
export type Sources = Map<string, string>

export type ImportRules = {
  mayImport: Record<string, string[]> // a module or a file → modules or files
  free: string[] // files that may import everything
  pure: Record<string, string[]> // module → the packages it may import
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

export function moduleOf(file: string): string {
  return /^src\/([^/]+?)(?:\.ts)?(?:\/|$)/.exec(file)?.[1] ?? ""
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
  if (target === undefined || rules.free.includes(file)) return []
  if (!target.startsWith("src/")) {
    return target === "package.json" ? [] : [`${file}: ${target} is outside src`]
  }
  const from = moduleOf(file)
  const to = moduleOf(target)
  if (from === to) return []
  const allowed = [...(rules.mayImport[from] ?? []), ...(rules.mayImport[within(file)] ?? [])]
  if (allowed.includes(to) || allowed.includes(within(target))) return []
  if (rules.mayImport[from] === undefined) return [`${file}: ${from} has no row in the table`]
  return [`${file}: ${from} may not import ${within(target)}`]
}

function specifierViolations({ file, specifier, target }: Import, rules: ImportRules): string[] {
  if (target !== undefined) {
    const explicit = /\.(?:ts|json|sql|html|css|txt|md|svg|bash|zsh|fish)$/.test(specifier)
    return explicit ? [] : [`${file}: "${specifier}" needs its .ts extension`]
  }
  const packages = rules.pure[moduleOf(file)]
  if (packages === undefined || packages.includes(specifier)) return []
  return [`${file}: pure, may not import "${specifier}"`]
}

const impureNames = [
  "Bun|process|performance|crypto",
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
  if (rules.pure[moduleOf(file)] === undefined) return []
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
  const kebab = /^(?:[a-z0-9-]+\/)*[a-z0-9]+(?:-[a-z0-9]+)*\.ts$/
  return files.flatMap((file) => [
    ...(junk.test(file) || layer.test(file) ? [`${file}: the name says nothing`] : []),
    ...(file.endsWith(".ts") && !kebab.test(file) ? [`${file}: not kebab-case`] : []),
  ])
}

export function defaultExports(sources: Sources): string[] {
  const pattern = /\bexport\s+default\b|\bas\s+default\b/
  return [...sources].flatMap(([file, source]) =>
    pattern.test(readSource(source).codeOnly) ? [`${file}: default export`] : [],
  )
}

export function sizeViolations(sources: Sources, rules: SizeRules): string[] {
  return [...sources].flatMap(([file, source]) => {
    const lines = source.replace(/\n$/, "").split("\n")
    const limit = rules.longFiles.includes(file) ? rules.hardLines : rules.softLines
    const wide = lines.flatMap((line, index) =>
      Array.from(line).length > rules.columns
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

function within(file: string): string {
  return file.replace(/^src\//, "")
}
