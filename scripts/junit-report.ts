export type Counts = { passed: number; failed: number; skipped: number }

/** What the report of `bun test` says in all; nothing when there is none. */
export async function countTests(report: string): Promise<Counts> {
  const totals = /<testsuites\b[^>]*>/.exec(await readReport(report))?.[0] ?? ""
  const count = (name: string) => Number(attribute(totals, name) ?? 0)
  const failed = count("failures") + count("errors")
  const skipped = count("skipped")
  return { passed: count("tests") - failed - skipped, failed, skipped }
}

/** The names of tests that have failed, or were skipped. */
export async function namedTests(report: string, what: "failure" | "skipped"): Promise<string[]> {
  const cases = (await readReport(report)).matchAll(/<testcase\b([^>]*[^/])>(.*?)<\/testcase>/gs)
  return [...cases].flatMap(([, head = "", body = ""]) => {
    if (!body.includes(`<${what}`)) return []
    const names = [attribute(head, "classname"), attribute(head, "name")]
    return [names.filter((name) => name !== null && name !== "").join(" > ")]
  })
}

/** One report of several. */
export async function joinReports(reports: readonly string[]): Promise<string> {
  const texts = await Promise.all(reports.map(readReport))
  const suites = texts.map((text) => /<testsuites\b[^>]*>(.*)<\/testsuites>/s.exec(text)?.[1] ?? "")
  const totals = { tests: 0, failures: 0, errors: 0, skipped: 0 }
  for (const text of texts) {
    const head = /<testsuites\b[^>]*>/.exec(text)?.[0] ?? ""
    for (const name of ["tests", "failures", "errors", "skipped"] as const) {
      totals[name] += Number(attribute(head, name) ?? 0)
    }
  }
  const attributes = Object.entries(totals).map(([name, count]) => `${name}="${count}"`)
  const head = `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${attributes.join(" ")}>`
  return `${head}${suites.join("")}</testsuites>\n`
}

async function readReport(path: string): Promise<string> {
  const file = Bun.file(path)
  return (await file.exists()) ? file.text() : ""
}

function attribute(tag: string, name: string): string | null {
  const text = new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1]
  if (text === undefined) return null
  return text.replace(/&(quot|apos|gt|lt|amp);/g, (_, entity: string) => entities[entity] ?? "")
}

const entities: Record<string, string> = { quot: '"', apos: "'", gt: ">", lt: "<", amp: "&" }
