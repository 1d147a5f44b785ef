import { describe, expect, test } from "bun:test"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promtool } from "../../scripts/promtool.ts"
import { NotReady } from "../../src/protocol/health-report.ts"
import { unreadinessReasons } from "../../src/service/gateway/reports/readiness.ts"
import { catalogue } from "../../src/service/metrics/catalogue.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { testUnless } from "../support/test-unless.ts"

const root = join(import.meta.dir, "../..")
const page = readFileSync(join(root, "docs/observability.md"), "utf8")
const noPromtool = promtool() === null ? "no promtool" : null

describe("the page about observability", () => {
  test("names no metric that does not exist", () => {
    const names = new Set(page.match(/\bcc_executor_\w+/g))
    const known = (name: string) =>
      Object.hasOwn(catalogue, name.replace(/_(?:bucket|sum|count)$/, ""))

    expect(names.size).toBeGreaterThan(15)
    expect([...names].filter((name) => !known(name))).toEqual([])
  })

  test("shows an answer of /readyz as it is", () => {
    const [shown] = blocks("json")
    const { reasons } = NotReady.parse(JSON.parse(shown ?? ""))
    expect(reasons).toEqual([{ name: "queue-full", ...unreadinessReasons["queue-full"] }])
  })

  test("names no line of the log that nobody writes", () => {
    const table = /\| `msg` \|[^]*?\n\n/.exec(page)?.[0] ?? ""
    const rows = table
      .split("\n")
      .slice(2)
      .filter((row) => row !== "")
    const messages = rows.flatMap((row) =>
      [...(row.split("|")[1] ?? "").matchAll(/`([^`]+)`/g)].map(([, message]) => message ?? ""),
    )
    const source = sourceText()

    expect(messages.length).toBeGreaterThan(8)
    expect(messages.filter((message) => !source.includes(`"${message}"`))).toEqual([])
  })

  testUnless(noPromtool, "has a configuration and rules that promtool takes", async () => {
    using folder = temporaryFolder()
    const [config = "", , rules = ""] = blocks("yaml") // between them is a part of Grafana's
    const token = join(folder.path, "cc-executor.token")
    writeFileSync(token, "no-token")
    const here = config.replace("/etc/prometheus/cc-executor.token", token)
    writeFileSync(join(folder.path, "prometheus.yml"), here)
    writeFileSync(join(folder.path, "cc-executor.rules.yml"), rules)

    const checked = await check(folder.path, ["config", "--lint-fatal", "prometheus.yml"])
    const ruled = await check(folder.path, ["rules", "--lint-fatal", "cc-executor.rules.yml"])

    expect(checked).toMatchObject({ exitCode: 0, error: "" })
    expect(ruled).toMatchObject({ exitCode: 0, error: "" })
    expect(ruled.output).toContain("SUCCESS: 12 rules found")
  })
})

/** What stands in the page's blocks of one language. */
function blocks(language: string): string[] {
  const found = page.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, "gm"))
  return [...found].map(([, text]) => text ?? "")
}

function sourceText(): string {
  const files = [...new Bun.Glob("src/**/*.ts").scanSync(root)]
  return files.map((file) => readFileSync(join(root, file), "utf8")).join("\n")
}

async function check(cwd: string, args: string[]) {
  const ran = Bun.spawn([promtool() ?? "", "check", ...args], {
    cwd,
    stdout: "pipe",
    stderr: "pipe",
  })
  const [output, error] = await Promise.all([ran.stdout.text(), ran.stderr.text()])
  return { exitCode: await ran.exited, output, error }
}
