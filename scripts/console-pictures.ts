import { join } from "node:path"
import { z } from "zod"
import { Chromium, laptop, phone, type Screen } from "../test/support/console-page.ts"
import { Service } from "../test/support/service.ts"
import { root } from "./steps.ts"

// The pictures of docs/console.md, from the real page of what was built last.
const folder = join(root, "docs", "pictures")

const Started = z.object({ execution_id: z.string() })

const commands = [
  { command: "make test", labels: { name: "tests", branch: "main" } },
  {
    command:
      "for i in $(seq 999); do printf '\\033[32mok\\033[0m %3d - says so\\n' $i; sleep 0.05; done",
    labels: { name: "suite", branch: "main" },
  },
  { command: "sh -c 'echo building; exit 0'", labels: { name: "build" } },
  { command: "sh -c 'exit 3'", labels: { name: "deploy", stage: "dry-run" } },
  { command: "tail -f /dev/null", labels: { name: "log-watch" } },
]

await using service = await Service.start()
await using browser = await Chromium.start()
const url = await service.url("/")
const headers = { "Content-Type": "application/json" }
let suite = ""
for (const body of commands) {
  const sent = { method: "POST", headers, body: JSON.stringify({ cwd: "/usr/src", ...body }) }
  const answer = await fetch(new URL("/executions", url), sent)
  const { execution_id } = Started.parse(await answer.json())
  if (body.labels.name === "suite") suite = execution_id
}
await Bun.sleep(35_000) // until there is something to plot

const pictures: [string, string, Screen][] = [
  ["console-now-light", "", { ...laptop, height: 520 }],
  ["console-now-dark", "", { ...laptop, height: 520, isDark: true }],
  ["console-execution-light", `#/executions/${suite}`, { ...laptop, height: 640 }],
  ["console-execution-phone-dark", `#/executions/${suite}`, { ...phone, isDark: true }],
  ["console-service-light", "#/service", { ...laptop, height: 640 }],
]
for (const [name, place, screen] of pictures) {
  await using page = await browser.open(`${url}${place}`, screen)
  await page.when("it is drawn", "document.querySelector('main h1, main h2') !== null")
  await Bun.sleep(2500) // rates are known after two looks
  await page.screenshot(join(folder, `${name}.png`))
}
