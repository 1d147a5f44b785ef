import type { ImportRules, ModuleRule } from "./architecture-rules.ts"

/** The table of docs/architecture.md that says what each module may import. */
export function readModuleTable(document: string): ImportRules {
  const lines = document.split("\n")
  const head = lines.findIndex((line) => /^\| module +\|/.test(line))
  if (head < 0) throw new Error("There is no table of modules: its first column is `module`.")
  const after = lines.slice(head + 2)
  const length = after.findIndex((line) => !line.startsWith("|"))
  const rows = after.slice(0, length < 0 ? after.length : length)
  return new Map(rows.flatMap(readRow))
}

function readRow(line: string): [string, ModuleRule][] {
  const [modules = "", mayImport = "", kind = ""] = line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim())
  const names = codeIn(modules)
  const targets = codeIn(mayImport)
  const isReadable =
    names.length > 0 && (targets.length > 0 || ["nothing", "everything"].includes(mayImport))
  if (!isReadable) throw new Error(`This row of the table says nothing: ${line}`)
  const rule: ModuleRule = {
    mayImport: mayImport === "everything" ? "everything" : targets,
    purePackages: kind.startsWith("pure") ? codeIn(kind) : null,
  }
  return names.map((name) => [name, rule])
}

function codeIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].flatMap(([, code]) => code ?? [])
}

/** The folders that the tree of docs/architecture.md shows: paths from `src/`. */
export function readModuleTree(document: string): string[] {
  const [, tree = ""] = /```text\nsrc\/\n([\s\S]*?)```/.exec(document) ?? []
  const parents: string[] = []
  return tree.split("\n").flatMap((line) => {
    const [, indent = "", name] = /^( +)([\w-]+)\//.exec(line) ?? []
    if (name === undefined) return []
    const depth = indent.length / 2 - 1
    parents.splice(depth, parents.length, name)
    return [parents.join("/")]
  })
}
