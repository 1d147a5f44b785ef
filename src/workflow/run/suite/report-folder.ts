import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { errnoOf } from "../../../lib/errno.ts"
import { reportAsJunit } from "../../suite/report-junit.ts"
import { reportAsPage } from "../../suite/report-page.ts"
import { reportAsText } from "../../suite/report-text.ts"
import type { SuiteReport } from "../../suite/suite-report.ts"
import { lockWork } from "../files/work-lock.ts"
import { writeText } from "../files/write-text.ts"
import { WorkFailure } from "../work-failure.ts"

/**
 * Writes a report as text, for machines, and as a page; whole, in the place of an earlier one. Of
 * two that are written at once, all three are of the same one.
 */
export async function writeReport(folder: string, report: SuiteReport): Promise<void> {
  const texts = {
    "report.txt": reportAsText(report),
    "junit.xml": reportAsJunit(report),
    "index.html": reportAsPage(report),
  }
  try {
    mkdirSync(folder, { recursive: true })
    await lockWork(join(folder, "report.txt"), async () => {
      for (const [name, text] of Object.entries(texts)) {
        writeText(join(folder, name), Buffer.from(text))
      }
    })
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === null) throw error
    throw new WorkFailure(`The report could not be written to ${folder} (${errno}).`)
  }
}
