import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { readModuleTable, readModuleTree } from "./support/architecture-document.ts"
import {
  absentModules,
  defaultExports,
  filesWithoutRow,
  importViolations,
  localTraces,
  nameViolations,
  type SizeRules,
  type Sources,
  sizeViolations,
} from "./support/architecture-rules.ts"

// A file over 300 lines stands in this list, and even then none is over 400.
const longFiles: string[] = []
const sizes: SizeRules = { softLines: 300, hardLines: 400, columns: 100, longFiles }

// Registries, and folders that exist on one machine: a checkout's, a person's, a tool's.
const localOnly = [
  /registry\.(?:npmjs|yarnpkg|npmmirror)\.(?:org|com)|npm\.pkg\.github\.com|\bnpm\.jsr\.io/,
  /(?<![\w.~)}#-])\/(?:work|opt\/bun\w*)(?![\w-])/,
  /(?<![\w.~)}-])\/root\/(?!\.claude)/,
  /(?<![\w.~)}-])\/(?:home|Users)\/(?!(?:me|you|user|alice|bob|agent|app|node)\b|<|\$)[\w.-]+\//,
]

const root = join(import.meta.dir, "..")
const document = await Bun.file(join(root, "docs/architecture.md")).text()
const imports = readModuleTable(document)
const trackedFiles = await listFiles()
const src = await read(trackedFiles.filter((file) => /^src\/.*(?<!\.d)\.tsx?$/.test(file)))
const ourCode = /^(?:src|test|scripts)\/.*\.tsx?$/
const code = await read(trackedFiles.filter((file) => ourCode.test(file)))

describe("the source tree", () => {
  test("imports only what the table allows, without cycles", () => {
    expect(importViolations(src, imports)).toEqual([])
  })

  test("has a row in the table for every file", () => {
    expect(filesWithoutRow(src, imports)).toEqual([])
  })

  test("has everything that the table names", () => {
    expect(absentModules(src, imports)).toEqual([])
  })

  test("has the folders that the document's tree shows, which shows every room", () => {
    const shown = readModuleTree(document)
    const folders = new Set([...src.keys()].flatMap((file) => foldersOf(file.replace("src/", ""))))
    const rooms = [...folders].filter((folder) => folder.split("/").length <= 2)

    expect(shown.filter((folder) => !folders.has(folder))).toEqual([])
    expect(rooms.filter((folder) => !shown.includes(folder))).toEqual([])
  })

  test("names files for what they hold", () => {
    expect(nameViolations([...src.keys()])).toEqual([])
  })

  test("exports by name", () => {
    expect(defaultExports(src)).toEqual([])
  })

  test("has files that can be read in one sitting", () => {
    expect(sizeViolations(code, sizes)).toEqual([])
  })

  test("holds no exception that is no longer needed", () => {
    const short = longFiles.filter((file) => (code.get(file)?.split("\n").length ?? 0) <= 301)
    expect(short).toEqual([])
  })
})

describe("every tracked file", () => {
  test("is true on any machine: no registry address, no machine path", async () => {
    const text = trackedFiles.filter((file) => !/\.(?:png|jpg|gif|ico|woff2|gz|db)$/.test(file))
    expect(localTraces(await read(text), localOnly)).toEqual([])
  })
})

describe("the rules find a planted violation", () => {
  const oneImport = (file: string, line: string) =>
    importViolations(new Map([[file, line]]), imports)

  test.each([
    ["a static import", `import { a } from "../transports/http/a.ts"`],
    ["an import over lines", `import {\n  a,\n  b,\n} from "../transports/http/a.ts"`],
    [
      "an import without semicolons",
      `import a from "./b.ts"\nimport { c } from "../transports/http/a.ts"`,
    ],
    ["a type import", `import type { A } from "../transports/http/a.ts"`],
    ["a namespace import", `import * as a from "../transports/http/a.ts"`],
    ["a bare import", `import "../transports/http/a.ts"`],
    ["a re-export", `export { a } from "../transports/http/a.ts"`],
    ["a re-export of all", `export * from "../transports/http/a.ts"`],
    ["a dynamic import", `const a = await import("../transports/http/a.ts")`],
    ["a dynamic import over lines", `await import(\n  "../transports/http/a.ts",\n)`],
    ["a type in place", `type A = import("../transports/http/a.ts").A`],
    [
      "an import after a pattern",
      `const q = /["'\`]/\nimport { a } from "../transports/http/a.ts"`,
    ],
    ["an import after a template", "const t = `${`}`} //`\nimport '../transports/http/a.ts'"],
  ])("%s against the table", (_, line) => {
    expect(oneImport("src/service/keeper/x.ts", line)).toEqual([
      "src/service/keeper/x.ts: service/keeper may not import service/transports/http/a.ts",
    ])
  })

  test.each([
    ["src/service/os/x.ts", `import { a } from "../keeper/keeper.ts"`],
    ["src/service/os/trees/x.ts", `import { a } from "../../keeper/admission/places.ts"`],
    ["src/service/keeper/x.ts", `import { a } from "./serve/serve.ts"`],
    ["src/service/keeper/upgrade/x.ts", `import { a } from "../../storage/state-directory.ts"`],
    ["src/service/transports/http/x.ts", `import { a } from "../../gateway/serve/serve.ts"`],
    ["src/service/transports/http/x.ts", `import { a } from "../socket/a.ts"`],
    ["src/service/gateway/x.ts", `import { a } from "../storage/transcript/format.ts"`],
    ["src/service/storage/x.ts", `import { a } from "../keeper/ports.ts"`],
    ["src/lib/x.ts", `import { a } from "../execution/a.ts"`],
    ["src/lib/x.ts", `import { a } from "./delay.ts"`],
    ["src/protocol/x.ts", `import { a } from "../client/a.ts"`],
    ["src/protocol/x.ts", `import { a } from "../lib/delay.ts"`],
    ["src/log/x.ts", `import { a } from "../config/config.ts"`],
    ["src/service/x.ts", `import { a } from "../lib/result.ts"`],
    ["src/novel/x.ts", `import { a } from "../execution/a.ts"`],
    ["src/cli/x.ts", `import { a } from "../../scripts/a.ts"`],
    ["src/cli/x.ts", `import { a } from "./a"`],
    ["src/cli/x.ts", `import { a } from "./a.js"`],
    ["src/cli/x.ts", `const a = await import(name)`],
    ["src/execution/x.ts", `import { join } from "node:path"`],
    ["src/execution/x.ts", `import { pino } from "pino"`],
    ["src/execution/x.ts", `const a = Bun.env`],
    ["src/execution/x.ts", "const a = `${process.pid}`"],
    ["src/lib/pattern/x.ts", `import { z } from "zod"`],
    ["src/protocol/x.ts", `setTimeout(run, 5)`],
    ["src/protocol/x.ts", `const a = Date.now()`],
    ["src/protocol/x.ts", `const a = new Date()`],
    ["src/protocol/x.ts", `const a = Math.random()`],
  ])("%s: %s", (file, line) => {
    expect(oneImport(file, line)).toHaveLength(1)
  })

  test("a row for what does not exist, a name that does not, a file without a row", () => {
    const sources: Sources = new Map([
      ["src/cli/a.ts", ""],
      ["src/novel/b.ts", ""],
    ])
    const rules = readModuleTable(
      ["| module | may import | |", "|---|---|---|", "| `cli`, `old` | `gone/a.ts` | |"].join("\n"),
    )

    expect(absentModules(sources, rules)).toEqual(["gone/a.ts", "old"])
    expect(filesWithoutRow(sources, rules)).toEqual(["src/novel/b.ts"])
  })

  test.each(["| cli | `lib` | |", "| `cli` | lib | |", "| `cli` | | |"])(
    "a row that cannot be read: %s",
    (row) => {
      const table = ["| module | may import | |", "|---|---|---|", row].join("\n")
      expect(() => readModuleTable(table)).toThrow("says nothing")
    },
  )

  test("a cycle between files", () => {
    const sources: Sources = new Map([
      ["src/cli/a.ts", `import { b } from "./b.ts"`],
      ["src/cli/b.ts", `import type { c } from "./c.ts"`],
      ["src/cli/c.ts", `import { a } from "./a.ts"`],
    ])
    expect(importViolations(sources, imports)).toEqual([
      "cycle: src/cli/a.ts → src/cli/b.ts → src/cli/c.ts → src/cli/a.ts",
    ])
  })

  test.each([
    "src/cli/index.ts",
    "src/cli/types.ts",
    "src/utils/a.ts",
    "src/cli/common.ts",
    "src/shared/a.ts",
    "src/cli/run-manager.ts",
    "src/http/service.ts",
    "src/cli/camelCase.ts",
  ])("the name %s", (file) => {
    expect(nameViolations([file])).toHaveLength(1)
  })

  test.each([["export default 1"], ["const a = 1\nexport { a as default }"]])("%s", (source) => {
    expect(defaultExports(new Map([["src/cli/a.ts", source]]))).toHaveLength(1)
  })

  test("a long file, a longer one that is excepted, a wide line", () => {
    const file = "src/cli/a.ts"
    const lines = (count: number): Sources => new Map([[file, "x\n".repeat(count)]])
    const excepted = { ...sizes, longFiles: [file] }

    expect(sizeViolations(lines(300), sizes)).toEqual([])
    expect(sizeViolations(lines(301), sizes)).toHaveLength(1)
    expect(sizeViolations(lines(400), excepted)).toEqual([])
    expect(sizeViolations(lines(401), excepted)).toHaveLength(1)
    expect(sizeViolations(new Map([[file, "é".repeat(100)]]), sizes)).toEqual([])
    expect(sizeViolations(new Map([[file, "x".repeat(101)]]), sizes)).toHaveLength(1)
    const path = `"${"../".repeat(30)}a.ts"`
    expect(sizeViolations(new Map([[file, `import { a } from ${path}`]]), sizes)).toEqual([])
    expect(sizeViolations(new Map([[file, `import { a, b } from ${path}`]]), sizes)).toHaveLength(1)
  })

  // Put together from parts, so that this file holds no such text itself.
  test.each([
    ["https://registry", ".npmjs.org/zod"],
    ["cd /wo", "rk/main"],
    ["/op", "t/bun/bin"],
    ["/ro", "ot/.npm"],
    ["/ho", "me/carol/src/"],
  ])("%s%s", (first, second) => {
    expect(localTraces(new Map([["docs/a.md", first + second]]), localOnly)).toHaveLength(1)
  })
})

describe("the rules leave alone", () => {
  test.each([
    ["src/service/keeper/x.ts", `import { a } from "./a.ts"`],
    ["src/service/keeper/upgrade/x.ts", `import { a } from "../supervision/a.ts"`],
    ["src/service/keeper/serve/serve.ts", `import { a } from "../../storage/journal/a.ts"`],
    ["src/main.ts", `import { a } from "./service/transports/http/a.ts"`],
    ["src/service/os/trees/x.ts", `import type { Clock } from "../../keeper/ports.ts"`],
    ["src/service/storage/transcript/x.ts", `import type { Place } from "../../gateway/ports.ts"`],
    ["src/client/x.ts", `import { delay } from "../lib/delay.ts"`],
    ["src/cli/x.ts", `import { version } from "../../package.json"`],
    ["src/service/keeper/x.ts", `// import { a } from "../transports/http/a.ts"`],
    ["src/service/keeper/x.ts", `/* import { a } from "../transports/http/a.ts" */`],
    ["src/execution/x.ts", `import { z } from "zod" // never Date.now()`],
    ["src/protocol/x.ts", `const method = "process.gap"`],
    ["src/protocol/x.ts", `const method = { process: state.process.pid, at: new Date(ms) }`],
  ])("%s: %s", (file, line) => {
    expect(importViolations(new Map([[file, line]]), imports)).toEqual([])
  })

  test.each([
    ["net/wo", "rk/b"],
    ["~/wo", "rk/a"],
    ["/wo", "rkspace/a"],
    ["/home", "/alice/code/"],
  ])("%s%s", (first, second) => {
    expect(localTraces(new Map([["docs/a.md", first + second]]), localOnly)).toEqual([])
  })
})

/** `a/b/c.ts` → `a`, `a/b` */
function foldersOf(path: string): string[] {
  const names = path.split("/").slice(0, -1)
  return names.map((_, at) => names.slice(0, at + 1).join("/"))
}

// What git tracks or would track; in an unpacked archive, what is there.
async function listFiles(): Promise<string[]> {
  const list = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
  const git = Bun.which("git") === null ? undefined : Bun.spawnSync(list, { cwd: root })
  const files =
    git?.exitCode === 0
      ? git.stdout.toString().split("\0")
      : [...new Bun.Glob("**/*").scanSync({ cwd: root, dot: true })]
  const ours = files.filter((file) => file && !/(?:^|\/)(?:node_modules|dist|\.git)\//.test(file))
  const present = await Promise.all(ours.map((file) => Bun.file(join(root, file)).exists()))
  return ours.filter((_, index) => present[index])
}

async function read(files: string[]): Promise<Sources> {
  const entries = files.map(
    async (file) => [file, await Bun.file(join(root, file)).text()] as const,
  )
  return new Map(await Promise.all(entries))
}
