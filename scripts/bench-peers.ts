import { join } from "node:path"
import { parseArgs } from "node:util"
import { benchmarksPage } from "./bench/benchmarks-page.ts"
import { figureTable } from "./bench/figure-table.ts"
import { machine } from "./bench/machine.ts"
import { measuredExecutable } from "./bench/measured-executable.ts"
import { measureParts } from "./bench/parts.ts"
import { peerTable } from "./bench/peer-table.ts"
import { firstGenerationLinesPerSecond, measurePeers } from "./bench/peers.ts"
import { websocketdVersion } from "./bench/websocketd.ts"
import { root } from "./steps.ts"

// `--write` also runs all of `bun run bench` and makes docs/benchmarks.md from both,
// `--executable PATH` measures another build than this tree's. The last line is JSON.
const { values } = parseArgs({
  options: {
    write: { type: "boolean", default: false },
    executable: { type: "string" },
  },
})

const version = await websocketdVersion()
const executable = await measuredExecutable(values.executable)
const peers = await measurePeers(executable)
const date = new Date()
console.log(`\n${machine()}, websocketd ${version}, ${date.toISOString()}\n`)
console.table(peerTable(peers))
const reference = firstGenerationLinesPerSecond.toLocaleString("en")
console.log(`for reference, the first generation's figure: ${reference} lines/s`)

const parts = values.write ? await measureParts(executable) : []
for (const { name, figures } of parts) {
  console.log(`\n${name}`)
  console.table(figureTable(figures))
}
if (values.write) {
  const run = { machine: machine(), date, websocketdVersion: version, peers, parts }
  for (const { path, text } of benchmarksPage(run)) {
    await Bun.write(join(root, path), text)
    console.log(`wrote ${path}`)
  }
}
const figures = parts.flatMap((part) => part.figures.map((each) => ({ part: part.name, ...each })))
console.log(JSON.stringify({ machine: machine(), date, peers, figures }))
process.exit(0)
