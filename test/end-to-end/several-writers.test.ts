import { describe, expect, setDefaultTimeout, test } from "bun:test"
import fc from "fast-check"
import { CommandLine, type Started } from "../cli/command-line.ts"
import { Terminal } from "../cli/terminal/terminal.ts"
import { byScale, fewIfShort, seed } from "../support/scale.ts"
import { executable } from "../support/service.ts"
import { until } from "../support/until.ts"

setDefaultTimeout(byScale({ short: 120_000, full: 600_000, long: 7_200_000 }))

type Target = "a terminal" | "a pipe"
type Plan = {
  /** What each writes, piece by piece; the first is who has started the execution. */
  writers: { by: "key" | "send"; lengths: number[] }[]
  /** How many percent of all bytes have arrived when the gateway is killed. */
  killAt: number
}

describe.each(["a terminal", "a pipe"] as const)("several people writing to %s", (target) => {
  test.each(fewIfShort(1, [5, 2]))(
    "are all heard, when the gateway dies, too: %d of them",
    async (count) => {
      const runs = { numRuns: byScale({ short: 1, full: 8, long: 100 }), seed, endOnFailure: true }
      await fc.assert(
        fc.asyncProperty(anyPlan(count), (plan) => expectAllHeard(target, plan)),
        runs,
      )
    },
  )
})

function anyPlan(count: number): fc.Arbitrary<Plan> {
  const lengths = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 2, maxLength: 4 })
  const later = fc.record({ by: fc.constantFrom("key", "send"), lengths })
  return fc.record({
    writers: fc
      .tuple(lengths, fc.array(later, { minLength: count - 1, maxLength: count - 1 }))
      .map(([first, others]) => [{ by: "key" as const, lengths: first }, ...others]),
    killAt: fc.noBias(fc.integer({ min: 0, max: 90 })),
  })
}

/** Every byte comes once, in its writer's order, and no other between those of one `send`. */
async function expectAllHeard(target: Target, plan: Plan): Promise<void> {
  const writers = plan.writers.map((one, number) => new Writer(number, one.by, one.lengths))
  // A shell's terminal hands over what is typed line by line; a terminal of ours every key.
  const enter = target === "a pipe" ? { typed: "\r", taken: 1 } : { typed: "", taken: 0 }
  const total = writers
    .map(({ by, text, texts }) => text.length + (by === "key" ? texts.length * enter.taken : 0))
    .reduce((all, bytes) => all + bytes)
  await using line = new CommandLine()
  await using starter = openTerminal(line, startOn(target, total + 1))
  const id = await until("it is listed", async () => (await line.stdout("ps", "-q")) || null)
  await using watcher = line.start("attach", "--observe", id)
  await watcher.untilSays("ready\n")
  const arrived = () => watcher.stdout.length - "ready\n".length

  const writing = writers.map(async (writer) => {
    if (writer.number === 0) {
      await writer.type(starter, enter.typed, watcher)
    } else if (writer.by === "send") {
      await writer.send(line, id)
    } else {
      const interactive = target === "a pipe" ? ["-i"] : []
      await using attached = openTerminal(line, ["attach", ...interactive, id])
      await attached.untilShows(/ready/)
      await writer.type(attached, enter.typed, watcher)
    }
  })
  await until("some has arrived", () => arrived() >= (plan.killAt / 100) * total)
  process.kill(line.gatewayPid, "SIGKILL")
  await Promise.all(writing)
  await until(`${total} bytes have arrived: ${watcher.stdout}`, () => arrived() >= total)
  await line.stdout("send", "-n", id, "!") // after which it ends, if nothing came twice

  expect(await starter.exited).toBe(0)
  expect(await watcher.exited).toBe(0)
  const heard = (await line.stdout("logs", id)).slice("ready\n".length)
  expect(heard.at(-1)).toBe("!")
  for (const writer of writers) writer.expectHeard(heard)
}

function startOn(target: Target, bytes: number): string[] {
  const script = `echo ready; exec dd bs=1 count=${bytes} status=none`
  const [how, prepared] = target === "a pipe" ? ["-i", script] : ["-t", `stty raw -echo; ${script}`]
  return ["run", how, "--", "sh", "-c", prepared]
}

function openTerminal(line: CommandLine, argv: string[]): Terminal {
  const env = line.env({ TERM: "xterm", NO_COLOR: "1" })
  return new Terminal([executable, ...argv], env, { cols: 80, rows: 24 })
}

/** Has letters of its own, by which its bytes are told from those of others. */
class Writer {
  readonly number: number
  readonly by: "key" | "send"
  readonly texts: string[]
  readonly #letters: string

  constructor(number: number, by: "key" | "send", lengths: readonly number[]) {
    this.number = number
    this.by = by
    this.#letters = ["ABCDE", "FGHIJ", "KLMNO", "PQRST", "UVWXY"][number] ?? ""
    let at = 0
    const letter = () => this.#letters[(at++ * at) % 5] ?? ""
    this.texts = lengths.map((length) => Array.from({ length }, letter).join(""))
  }

  get text(): string {
    return this.texts.join("")
  }

  /** Types while what was typed before may still be on its way. */
  async type(terminal: Terminal, enter: string, watcher: Started): Promise<void> {
    let typed = ""
    for (const text of this.texts) {
      const before = typed
      terminal.type(text + enter)
      typed += text
      await until(`${before} was heard`, () => this.#own(watcher.stdout).length >= before.length)
    }
    await until(`${typed} was heard`, () => this.#own(watcher.stdout).length >= typed.length)
  }

  async send(line: CommandLine, id: string): Promise<void> {
    for (const text of this.texts) await line.stdout("send", "-n", id, text)
  }

  expectHeard(heard: string): void {
    expect(this.#own(heard)).toBe(this.text)
    if (this.by === "key") return
    const places = Array.from(heard).flatMap((one, at) => (this.#letters.includes(one) ? [at] : []))
    for (const text of this.texts) {
      const [first, ...others] = places.splice(0, text.length)
      expect(others).toEqual(others.map((_, at) => (first ?? 0) + 1 + at))
    }
  }

  #own(text: string): string {
    return Array.from(text)
      .filter((letter) => this.#letters.includes(letter))
      .join("")
  }
}
