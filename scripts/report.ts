import { appendFile } from "node:fs/promises"
import { countTests, namedTests } from "./junit-report.ts"

// `npm run report -- FILE…`: what junit reports say, for people: on the page of a run of GitHub's
// where there is one, else here.
const text: string[] = ["| report | passed | failed | skipped |", "|---|---|---|---|"]
const details: string[] = []
for (const report of process.argv.slice(2)) {
  const { passed, failed, skipped } = await countTests(report)
  text.push(`| ${report} | ${passed} | ${failed} | ${skipped} |`)
  for (const what of ["failure", "skipped"] as const) {
    const names = await namedTests(report, what)
    if (names.length > 0) details.push("", `${what} in ${report}:`, "", ...names.map(asItem))
  }
}
const page = process.env["GITHUB_STEP_SUMMARY"] ?? ""
const summary = `${[...text, ...details].join("\n")}\n`
if (page === "") console.log(summary)
else await appendFile(page, summary)

function asItem(name: string): string {
  return `- ${name.replaceAll("`", "'").replaceAll("\n", " ")}`
}
