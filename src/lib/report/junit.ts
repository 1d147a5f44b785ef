import { xmlText } from "./xml-text.ts"

/** Test results for machines that read them. */
export type JunitReport = { name: string; suites: JunitSuite[] }

export type JunitSuite = { name: string; properties: JunitProperty[]; cases: JunitCase[] }

export type JunitCase = {
  name: string
  className: string
  durationMs: number
  properties: JunitProperty[]
  /** Null where it passed; an `error` is what has come to no end of its own. */
  trouble: { kind: "failure" | "error"; message: string; details: string } | null
}

export type JunitProperty = [name: string, value: string | number]

export function junitText({ name, suites }: JunitReport): string {
  const totals = attributes({ name, ...totalsOf(suites.flatMap(({ cases }) => cases)) })
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${totals}>`,
    ...suites.flatMap(suiteLines),
    "</testsuites>",
    "",
  ].join("\n")
}

function suiteLines({ name, properties, cases }: JunitSuite): string[] {
  return [
    `  <testsuite${attributes({ name, ...totalsOf(cases) })}>`,
    ...propertyLines("    ", properties),
    ...cases.flatMap(caseLines),
    "  </testsuite>",
  ]
}

function caseLines({ name, className, durationMs, properties, trouble }: JunitCase): string[] {
  const head = attributes({ classname: className, name, time: seconds(durationMs) })
  return [
    `    <testcase${head}>`,
    ...propertyLines("      ", properties),
    ...troubleLines(trouble),
    "    </testcase>",
  ]
}

function troubleLines(trouble: JunitCase["trouble"]): string[] {
  if (trouble === null) return []
  const { kind, message, details } = trouble
  const head = `      <${kind}${attributes({ message })}`
  return [details === "" ? `${head}/>` : `${head}>${xmlText(details)}</${kind}>`]
}

function propertyLines(indent: string, values: readonly JunitProperty[]): string[] {
  const lines = values.map(([name, value]) => `<property${attributes({ name, value })}/>`)
  return ["<properties>", ...lines.map((line) => `  ${line}`), "</properties>"].map(
    (line) => indent + line,
  )
}

function totalsOf(cases: readonly JunitCase[]) {
  const count = (kind: "failure" | "error") =>
    cases.filter(({ trouble }) => trouble?.kind === kind).length
  return {
    tests: cases.length,
    failures: count("failure"),
    errors: count("error"),
    time: seconds(cases.reduce((sum, { durationMs }) => sum + durationMs, 0)),
  }
}

function attributes(values: Record<string, string | number>): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${xmlText(String(value))}"`)
    .join("")
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3)
}
