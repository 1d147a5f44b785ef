import { describe, expect, test } from "bun:test"
import { z } from "zod"
import { Position } from "../../../../src/execution/record.ts"
import { encodeCursor } from "../../../../src/service/gateway/operations/cursor.ts"
import { Drivers } from "../../../../src/service/gateway/operations/drivers.ts"
import type { OutputFeed } from "../../../../src/service/gateway/ports.ts"
import { bearer, localUser } from "../../../support/callers.ts"
import { sampleId, sampleRecord, sampleSpec, transcriptOf } from "../../../support/sample-record.ts"
import { ScriptedLink, settled } from "../../../support/scripted-link.ts"

const executionId = sampleId(1)
const caller = localUser
const mebibyte = 1024 * 1024
const block = { bytes: 1024 * mebibyte, lines: null, policy: "block" } as const
const Told = z.object({
  executionId: z.string(),
  principals: z.array(z.string()),
  floor: Position.nullable(),
})

/** A feed of which only the place counts. */
class Reader implements OutputFeed {
  readonly executionId = executionId
  readonly from = ""
  readonly availableFrom = ""
  sequence = 0
  blocked = false
  written = 1024 * mebibyte
  readonly #spec

  constructor(spec: Partial<typeof sampleSpec> = { budget: block }) {
    this.#spec = { ...sampleSpec, ...spec }
  }

  record() {
    const { blocked } = this
    const transcript = transcriptOf(this.written)
    return sampleRecord({ id: executionId, spec: this.#spec, blocked, transcript })
  }

  position() {
    return { segment: 0, offset: this.sequence, sequence: this.sequence, lines: 0 }
  }

  passedBytes(): number {
    return this.sequence
  }

  next(): null {
    return null
  }

  cursor(): string {
    return ""
  }

  onAdvance(): Disposable {
    return { [Symbol.dispose]: () => undefined }
  }

  [Symbol.dispose](): void {}
}

function stage() {
  const link = new ScriptedLink()
  const drivers = new Drivers(() => link)
  const told = () => link.calls.map(({ params }) => Told.parse(params))
  const floors = () => told().map(({ floor }) => floor?.sequence ?? null)
  /** The keeper takes the message that is under way, and so gets the next. */
  const takeMessage = () => link.calls.at(-1)?.answer({})
  return { link, drivers, told, floors, takeMessage }
}

function cursorAt(sequence: number): string {
  const position = { segment: 0, offset: sequence, sequence, lines: 0, inside: 0 }
  return encodeCursor({ position, held: { stdout: new Uint8Array(0), stderr: new Uint8Array(0) } })
}

describe("who drives an execution whose budget blocks", () => {
  test("is told to the keeper when it comes and when it goes", async () => {
    const { drivers, told, takeMessage } = stage()
    const driver = drivers.drive(caller, new Reader())
    await takeMessage()
    driver[Symbol.dispose]()
    driver[Symbol.dispose]()
    await takeMessage()

    expect(told().map(({ principals }) => principals)).toEqual([["local"], []])
    expect(told().at(-1)?.floor).toBeNull()
  })

  test("is told in one message at a time: what changes meanwhile goes into the next", async () => {
    const { drivers, told, takeMessage } = stage()
    const all = ["a", "b", "c"].map((principal) =>
      drivers.drive(bearer(principal, "control"), new Reader()),
    )
    all[0]?.[Symbol.dispose]()
    await settled()
    expect(told()).toHaveLength(1)

    await takeMessage()

    expect(told().map(({ principals }) => principals)).toEqual([["a"], ["b", "c"]])
  })

  test("holds the floor sixteen mebibytes behind what it was sent", async () => {
    const { drivers, floors, takeMessage } = stage()
    const reader = new Reader()
    const driver = drivers.drive(caller, reader)
    await takeMessage()
    for (reader.sequence = 0; reader.sequence <= 20 * mebibyte; reader.sequence += 65_536) {
      driver.sent()
      await takeMessage()
    }

    const floor = floors().at(-1) ?? 0
    expect(floor).toBeGreaterThan(2 * mebibyte)
    expect(floor).toBeLessThanOrEqual(4 * mebibyte)
    expect(floors()).toEqual(floors().toSorted((one, other) => (one ?? 0) - (other ?? 0)))
    expect(floors().length).toBeLessThan(40)
  })

  test("holds it where the slowest of them stands", async () => {
    const { drivers, floors, takeMessage } = stage()
    const [slow, fast] = [new Reader(), new Reader()]
    const slower = drivers.drive(caller, slow)
    const faster = drivers.drive(caller, fast)
    await takeMessage()
    await takeMessage()
    expect(faster.acknowledge(cursorAt(5000))).toBe(true)
    await takeMessage()
    expect(slower.acknowledge(cursorAt(1000))).toBe(true)
    await takeMessage()
    expect(floors().at(-1)).toBe(1000)

    slower[Symbol.dispose]()
    await takeMessage()
    expect(floors().at(-1)).toBe(5000)
  })

  test("moves it by what it acknowledges, and then by nothing else", async () => {
    const { drivers, floors, takeMessage } = stage()
    const reader = new Reader()
    const driver = drivers.drive(caller, reader)
    await takeMessage()
    driver.acknowledge(cursorAt(300))
    await takeMessage()
    reader.sequence = 100 * mebibyte
    driver.sent()
    driver.acknowledge(cursorAt(200))
    await settled()

    expect(floors()).toEqual([0, 300])
    expect(driver.acknowledge("nonsense")).toBe(false)
  })

  test("moves it by nothing else from the first byte on, if it announced that", async () => {
    const { drivers, floors, takeMessage } = stage()
    const reader = new Reader()
    const driver = drivers.drive(caller, reader, true)
    await takeMessage()
    reader.sequence = 100 * mebibyte
    driver.sent()
    reader.written = reader.sequence
    reader.blocked = true
    driver.sent()
    await settled()
    expect(floors()).toEqual([0])

    driver.acknowledge(cursorAt(300))

    expect(floors()).toEqual([0, 300])
  })

  test("is asked to acknowledge sixteen times a budget, but not every few bytes", () => {
    const { drivers } = stage()
    const askedAfter = (bytes: number) =>
      drivers.drive(caller, new Reader({ budget: { ...block, bytes } }), true).ackAfterBytes

    expect(askedAfter(1024 * mebibyte)).toBe(64 * mebibyte)
    expect(askedAfter(65_536)).toBe(4096)
    expect(askedAfter(1024)).toBe(4096)
    expect(drivers.drive(caller, new Reader(), false).ackAfterBytes).toBeNull()
  })

  test("holds nothing back when the child waits although all was sent", async () => {
    const { drivers, floors, takeMessage } = stage()
    const reader = new Reader()
    const driver = drivers.drive(caller, reader)
    await takeMessage()
    reader.sequence = reader.written = 4096
    reader.blocked = true
    driver.sent()

    expect(floors()).toEqual([0, 4096])
  })

  test("stands by without a floor of its own, but present", async () => {
    const { drivers, told, takeMessage } = stage()
    const driver = drivers.drive(caller, new Reader())
    await takeMessage()

    driver.standBy()

    expect(told().at(-1)).toMatchObject({ principals: ["local"], floor: null })
  })
})

describe("who drives an execution that waits for nobody", () => {
  test("is of no interest to the keeper, and is asked for nothing", async () => {
    const { drivers, told } = stage()
    const reader = new Reader({ budget: { ...block, policy: "drop-oldest" } })
    const driver = drivers.drive(caller, reader, true)
    reader.sequence = 100 * mebibyte
    driver.sent()
    driver.acknowledge(cursorAt(10))
    driver[Symbol.dispose]()
    await settled()

    expect(told()).toEqual([])
    expect(driver.ackAfterBytes).toBeNull()
  })

  test("counts when it holds a lease", async () => {
    const { drivers, told, takeMessage } = stage()
    const budget = { ...block, policy: "drop-oldest" } as const
    const driver = drivers.drive(caller, new Reader({ budget, onDisconnect: "cancel" }))
    await takeMessage()
    driver[Symbol.dispose]()

    expect(told().map(({ principals }) => principals)).toEqual([["local"], []])
  })
})
