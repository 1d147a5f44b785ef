import { afterAll } from "bun:test"
import { relative } from "node:path"
import { finishedReport } from "./report-folder.ts"

// Loaded before all test files, so this comes after the last of them.
afterAll(() => {
  const report = finishedReport()
  if (report === null) return
  console.log(`\n${report.text}\nThe same as a page: ${relative(".", report.page)}`)
})
