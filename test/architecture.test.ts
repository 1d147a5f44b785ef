import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import {
  defaultExports,
  type ImportRules,
  importViolations,
  localTraces,
  moduleOf,
  nameViolations,
  type SizeRules,
  type Sources,
  sizeViolations,
} from "./support/architecture-rules.ts"

// A file may always import others of its module. What else a module may import:
const mayImport: Record<string, string[]> = {
  execution: [],
  protocol: ["execution"],
  config: ["execution", "protocol"],
  log: ["execution", "protocol"],
  metrics: ["protocol", "execution"],
  vector: [],
  files: ["execution", "protocol"],
  redaction: ["execution"],

  // Adapters know the ports of those they serve, and nothing else of them.
  process: ["keeper/ports.ts", "execution"],
  transcript: ["keeper/ports.ts", "gateway/ports.ts", "execution", "vector"],
  journal: ["keeper/ports.ts", "gateway/ports.ts", "execution", "files"],
  audit: ["keeper/ports.ts", "execution", "protocol"],
  keeper: ["execution", "protocol", "metrics"],

  access: ["execution", "protocol", "files"],
  claude: ["execution", "protocol"],
  workflow: ["execution", "protocol"],

  gateway: ["access", "protocol", "execution", "metrics"],
  http: ["gateway/ports.ts", "access", "protocol", "execution", "claude", "workflow", "metrics"],
  socket: ["gateway/ports.ts", "access", "protocol", "execution", "claude", "workflow", "vector"],
  // Searching output is matching patterns in linear time, which redaction knows how to do.
  mcp: [
    "gateway/ports.ts",
    "access",
    "protocol",
    "execution",
    "claude",
    "workflow",
    "redaction/line-pattern.ts",
  ],

  client: ["protocol", "execution"],
  // Its listeners ask who is at the door, as the service's do; who has which connection is told by
  // an argument, from `process`.
  bridge: ["client", "protocol", "access", "execution"],
  console: ["client", "protocol"],
  cli: [
    "client",
    "bridge",
    "protocol",
    "execution",
    "config",
    "log",
    "transcript", // this and the next three: the read side, for offline commands
    "journal",
    "audit",
    "process",
    "access", // tokens are made and revoked with or without a service
    "files", // the configuration of MCP clients is written whole
  ],
}

// Composition roots put everything together, so they may import everything.
const free = [
  "src/main.ts",
  "src/keeper/serve.ts",
  "src/keeper/serve-files.ts",
  "src/keeper/serve-machine.ts",
  "src/keeper/serve-open.ts",
  "src/keeper/serve-options.ts",
  "src/keeper/serve-record.ts",
  "src/keeper/serve-settings.ts",
  "src/keeper/serve-go-on.ts",
  "src/keeper/serve-take-over.ts",
  "src/keeper/serve-upgrade.ts",
  "src/keeper/serve-upgrade-check.ts",
  "src/keeper/decide.ts",
  "src/keeper/policy-in-force.ts",
  "src/keeper/policy-watch.ts",
  "src/gateway/serve.ts",
  "src/gateway/serve-access.ts",
  "src/gateway/serve-clients.ts",
  "src/gateway/serve-mcp.ts",
  "src/gateway/serve-mcp-doors.ts",
]

// Pure modules: no package but these; no Bun, Node, process, timers, clock or chance.
const pure: Record<string, string[]> = { execution: ["zod"], protocol: ["zod"], redaction: [] }

const imports: ImportRules = { mayImport, free, pure }

// A file over 300 lines stands in this list, and even then none is over 400.
const longFiles: string[] = ["src/keeper/supervision.ts"]
const sizes: SizeRules = { softLines: 300, hardLines: 400, columns: 100, longFiles }

// Registries, and folders that exist on one machine: a checkout's, a person's, a tool's.
const localOnly = [
  /registry\.(?:npmjs|yarnpkg|npmmirror)\.(?:org|com)|npm\.pkg\.github\.com|\bnpm\.jsr\.io/,
  /(?<![\w.~)}-])\/(?:work|opt\/bun\w*)(?![\w-])/,
  /(?<![\w.~)}-])\/root\/(?!\.claude)/,
  /(?<![\w.~)}-])\/(?:home|Users)\/(?!(?:me|you|user|alice|bob|agent|app|node)\b|<|\$)[\w.-]+\//,
]

const root = join(import.meta.dir, "..")
const trackedFiles = await listFiles()
const src = await read(trackedFiles.filter((file) => /^src\/.*(?<!\.d)\.ts$/.test(file)))
const code = await read(trackedFiles.filter((file) => /^(?:src|test|scripts)\/.*\.ts$/.test(file)))

describe("the source tree", () => {
  test("imports only what the table allows, without cycles", () => {
    expect(importViolations(src, imports)).toEqual([])
  })

  test("has a row in the table for every module", () => {
    const modules = new Set([...src.keys()].map(moduleOf))
    modules.delete("main")
    expect([...modules].filter((name) => mayImport[name] === undefined)).toEqual([])
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
    ["a static import", `import { a } from "../http/a.ts"`],
    ["an import over lines", `import {\n  a,\n  b,\n} from "../http/a.ts"`],
    ["an import without semicolons", `import a from "./b.ts"\nimport { c } from "../http/a.ts"`],
    ["a type import", `import type { A } from "../http/a.ts"`],
    ["a namespace import", `import * as a from "../http/a.ts"`],
    ["a bare import", `import "../http/a.ts"`],
    ["a re-export", `export { a } from "../http/a.ts"`],
    ["a re-export of all", `export * from "../http/a.ts"`],
    ["a dynamic import", `const a = await import("../http/a.ts")`],
    ["a dynamic import over lines", `await import(\n  "../http/a.ts",\n)`],
    ["a type in place", `type A = import("../http/a.ts").A`],
    ["an import after a pattern", `const q = /["'\`]/\nimport { a } from "../http/a.ts"`],
    ["an import after a template", "const t = `${`}`} //`\nimport '../http/a.ts'"],
  ])("%s against the table", (_, line) => {
    expect(oneImport("src/keeper/x.ts", line)).toEqual([
      "src/keeper/x.ts: keeper may not import http/a.ts",
    ])
  })

  test.each([
    ["src/process/x.ts", `import { a } from "../keeper/admission.ts"`],
    ["src/http/x.ts", `import { a } from "../gateway/serve.ts"`],
    ["src/http/x.ts", `import { a } from "../socket/a.ts"`],
    ["src/gateway/x.ts", `import { a } from "../transcript/a.ts"`],
    ["src/protocol/x.ts", `import { a } from "../client/a.ts"`],
    ["src/log.ts", `import { a } from "./config.ts"`],
    ["src/novel/x.ts", `import { a } from "../execution/a.ts"`],
    ["src/cli/x.ts", `import { a } from "../../scripts/a.ts"`],
    ["src/cli/x.ts", `import { a } from "./a"`],
    ["src/cli/x.ts", `import { a } from "./a.js"`],
    ["src/cli/x.ts", `const a = await import(name)`],
    ["src/execution/x.ts", `import { join } from "node:path"`],
    ["src/execution/x.ts", `import { pino } from "pino"`],
    ["src/execution/x.ts", `const a = Bun.env`],
    ["src/execution/x.ts", "const a = `${process.pid}`"],
    ["src/protocol/x.ts", `setTimeout(run, 5)`],
    ["src/protocol/x.ts", `const a = Date.now()`],
    ["src/protocol/x.ts", `const a = new Date()`],
    ["src/protocol/x.ts", `const a = Math.random()`],
  ])("%s: %s", (file, line) => {
    expect(oneImport(file, line)).toHaveLength(1)
  })

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
    ["src/keeper/x.ts", `import { a } from "./a.ts"`],
    ["src/keeper/serve.ts", `import { a } from "../journal/a.ts"`],
    ["src/main.ts", `import { a } from "./http/a.ts"`],
    ["src/process/x.ts", `import type { Clock } from "../keeper/ports.ts"`],
    ["src/transcript/x.ts", `import type { Place } from "../gateway/ports.ts"`],
    ["src/cli/x.ts", `import { version } from "../../package.json"`],
    ["src/keeper/x.ts", `// import { a } from "../http/a.ts"`],
    ["src/keeper/x.ts", `/* import { a } from "../http/a.ts" */`],
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
