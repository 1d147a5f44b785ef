import { parseArgs } from "node:util"
import { figureTable } from "./bench/figure-table.ts"
import { machine } from "./bench/machine.ts"
import { measuredExecutable } from "./bench/measured-executable.ts"
import { measureParts, partNames } from "./bench/parts.ts"

// `--only throughput --only attach` runs some parts, `--executable PATH` another build than this
// tree's. The last line is all of it as JSON.
const { values } = parseArgs({
  options: { only: { type: "string", multiple: true }, executable: { type: "string" } },
})
const unknown = values.only?.find((name) => !partNames.includes(name))
if (unknown !== undefined) {
  console.error(`there is no part ${unknown}; the parts are ${partNames.join(", ")}`)
  process.exit(2)
}

const executable = await measuredExecutable(values.executable)
const parts = await measureParts(executable, values.only)
const date = new Date().toISOString()
console.log(`\n${machine()}, ${date}`)
for (const { name, figures } of parts) {
  console.log(`\n${name}`)
  console.table(figureTable(figures))
}
const figures = parts.flatMap((part) => part.figures.map((each) => ({ part: part.name, ...each })))
console.log(JSON.stringify({ machine: machine(), date, figures }))
process.exit(0)
