import { describe, expect } from "bun:test"
import { noBrowser } from "../support/browser.ts"
import { Chromium } from "../support/console-page.ts"
import { calculator, fixer, fixList, threeFixes } from "../support/review-files.ts"
import { sharedService } from "../support/shared-service.ts"
import { testUnless } from "../support/test-unless.ts"
import { WorkFolder } from "../support/work-folder.ts"

const service = sharedService()

const list = `---
agent: sh actor.sh
---
- [ ] **T01 – First**
  Check: \`test -s one.txt\`
- [ ] **T02 – Fails**
  Check: \`test -f two.txt\`
`

describe("a task list that was worked off", () => {
  testUnless(
    noBrowser,
    "is shown with its verdicts, and the executions behind them",
    async () => {
      await using folder = new WorkFolder(service(), {
        "actor.sh": "cat > /dev/null; echo one > one.txt\n",
        "T.md": list,
      })
      folder.commitAll()
      await folder.run("tasks", "run", "T.md")
      await using browser = await Chromium.start()
      await using page = await browser.open(`${await service().url("/")}#/work`)

      await page.whenText(/passed T01 1:0/)
      await page.whenText(/failed T02 0:1/)
      await page.click("section li a", "green")
      await page.whenText("Is the record sound?")
      expect(page.complaints).toEqual([])
      expect(await page.violations()).toEqual([])
    },
    90_000,
  )
})

describe("the fixes of a review", () => {
  testUnless(
    noBrowser,
    "are shown with their verdicts, as fixes",
    async () => {
      const files = { ...calculator, "fixer.sh": fixer }
      await using folder = new WorkFolder(service(), files)
      const listName = "executor/001_calc_fixes.json"
      folder.write(listName, fixList("001_calc", threeFixes))
      folder.commitAll()
      await folder.run("review", "fix", "--fixer", "sh fixer.sh", listName)
      await using browser = await Chromium.start()
      await using page = await browser.open(`${await service().url("/")}#/work`)

      await page.whenText("001_calc_fixes.json fixes of a review")
      await page.whenText(/passed fix 1 1:0/)
      await page.whenText(/passed fix 2 1:0/)
      await page.whenText(/failed fix 3 0:1/)
      expect(page.complaints).toEqual([])
    },
    90_000,
  )
})
