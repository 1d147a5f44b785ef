import { describe, expect } from "bun:test"
import { createPublicKey } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Receipt } from "../../src/execution/receipt.ts"
import { tryParseJson } from "../../src/lib/parse-json.ts"
import { keyIdOf } from "../../src/lib/public-key.ts"
import type { ExecutionView } from "../../src/protocol/execution-view.ts"
import { engineMissing } from "../support/engine.ts"
import { buildNextVersion } from "../support/next-version.ts"
import { byScale, seed } from "../support/scale.ts"
import { notRoot, testUnless } from "../support/test-unless.ts"
import { until } from "../support/until.ts"
import { noNamespace } from "./support/faults/wired-namespace.ts"
import { wreak } from "./support/fleet/chaos.ts"
import { type NodeName, nodeNames, WiredFleet } from "./support/fleet/wired-fleet.ts"
import { Work } from "./support/fleet/work.ts"

const runs = byScale({ short: 1, full: 10, long: 10 })
const ms = byScale({ short: 12_000, full: 60_000, long: 60_000 })
const obstacle = engineMissing ?? notRoot ?? noNamespace

describe("a fleet in which everything breaks", () => {
  for (let run = 0; run < runs; run++) {
    const own = seed + run
    testUnless(obstacle, `keeps what it promises, with seed ${own}`, () => chaos(own), ms + 150_000)
  }
})

async function chaos(own: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "cc-executor-truth-"))
  using cleanup = new DisposableStack()
  cleanup.defer(() => rmSync(folder, { recursive: true }))
  const truth = join(folder, "began")
  writeFileSync(truth, "", { mode: 0o666 })
  using next = runs > 1 ? cleanup.use(await buildNextVersion()) : null
  await using fleet = await WiredFleet.start("8s")
  await using work = new Work(fleet, own, truth)
  let isOver = false
  const working = work.until(() => isOver)
  const wrought = await wreak(fleet, own, ms, next?.path ?? null)
  isOver = true
  await working
  await fleet.ready()
  // How much gets through meanwhile is a matter of luck; afterwards everything does again.
  const { started, readWhole } = work
  await work.until(() => work.started > started + 5 && work.readWhole > readWhole)

  const views = await settled(fleet)
  const began = work.groundTruth()
  const story = wrought.deeds.join("\n")
  const byId = new Map(views.map((view) => [view.execution_id, view]))

  expect(repeated(began.map(({ key }) => key)), story).toEqual([])
  expect(repeated(began.map(({ id }) => id)), story).toEqual([])
  expect(
    began.filter(({ id }) => !byId.has(id)),
    `began, and nobody knows: ${story}`,
  ).toEqual([])
  expect(
    views.filter(({ state }) => state !== "ended"),
    story,
  ).toEqual([])
  expect(work.faults, story).toEqual([])
  for (const view of views.filter(({ ending }) => ending?.exit_code === 0)) {
    expect(await attested(fleet, view), `${view.execution_id}: ${story}`).toBe(true)
  }
  for (const { from, to } of wrought.engineDown) {
    const declared = views.map(({ placement }) => declaredAt(placement?.loss?.payload))
    expect(
      declared.filter((at) => at !== null && at >= from && at <= to),
      story,
    ).toEqual([])
  }
}

/** Every execution, as its own node tells of it, when none of them runs any more. */
async function settled(fleet: WiredFleet): Promise<ExecutionView[]> {
  return until(
    "everything has ended",
    async () => {
      const views = await everything(fleet)
      return views.every(({ state }) => state === "ended") ? views : null
    },
    60_000,
  )
}

async function everything(fleet: WiredFleet): Promise<ExecutionView[]> {
  const found = new Map<string, ExecutionView>()
  for (const name of nodeNames) {
    await using client = fleet.client(name)
    let cursor: string | undefined
    do {
      const page = await client.call("list", { limit: 1000, ...(cursor && { cursor }) })
      for (const view of page.executions) {
        // A node's own word counts more than what others have heard.
        if (view.placement?.node === name || !found.has(view.execution_id)) {
          found.set(view.execution_id, view)
        }
      }
      cursor = page.cursor
    } while (cursor !== undefined)
  }
  return [...found.values()]
}

function repeated(words: string[]): string[] {
  return words.filter((word, index) => words.indexOf(word) !== index)
}

/** Whether its receipt is signed with the key of the very node that it was placed on. */
async function attested(fleet: WiredFleet, view: ExecutionView): Promise<boolean> {
  const node = nodeNames.find((name) => name === view.placement?.node)
  if (node === undefined) return false
  await using client = fleet.client(node)
  const { signatures, payload } = await client.call("receipt", { execution_id: view.execution_id })
  const receipt = Receipt.parse(tryParseJson(Buffer.from(payload, "base64").toString("utf8")))
  const isOfNode = signatures.some(({ keyid }) => keyid === keyOf(fleet, node))
  return isOfNode && receipt.placed?.node === node && receipt.execution_id === view.execution_id
}

function keyOf(fleet: WiredFleet, node: NodeName): string {
  const pem = readFileSync(join(fleet.service(node).stateDir, "receipt-key.pem"), "utf8")
  return keyIdOf(createPublicKey(pem))
}

function declaredAt(payload: string | undefined): number | null {
  if (payload === undefined) return null
  const notice: unknown = tryParseJson(Buffer.from(payload, "base64").toString("utf8"))
  const isNotice = typeof notice === "object" && notice !== null && "declared_at" in notice
  return isNotice ? Date.parse(String(notice.declared_at)) : null
}
