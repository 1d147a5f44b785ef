import { describe, expect, test } from "bun:test"
import { renderingFor } from "../../src/log/log.ts"
import { harmfulIn, hostile, showsHostile } from "../support/hostile-text.ts"
import { captured } from "./captured-log.ts"

describe("a line", () => {
  const throwing = {
    get fact(): string {
      throw new Error("no such fact")
    },
  }

  test("is a JSON object with level, time, process, facts and a fixed message", () => {
    const { log, records } = captured({ process: "gateway" })

    log.child({ executionId: "abc" }).info({ pid: 12, durationMs: 3 }, "execution started")

    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    const base = { level: "info", time, process: "gateway", processId: process.pid }
    const facts = { executionId: "abc", pid: 12, durationMs: 3 }
    expect(records()).toEqual([{ ...base, ...facts, msg: "execution started" }])
  })

  test("stays one line, whatever the facts hold", () => {
    const { log, records } = captured({})

    log.info({ text: "a\nb\r\u2028\u0000\ud800", big: 10n, none: undefined }, "odd facts")
    log.error({ err: new Error("first\nsecond") }, "failed")

    expect(records()).toMatchObject([{ msg: "odd facts" }, { err: { message: "first\nsecond" } }])
  })

  test.each(["json", "pretty"] as const)("as %s cannot act on a terminal", async (format) => {
    const { log, written } = captured({ render: await renderingFor(format, { isTerminal: true }) })
    const text = hostile.trim()

    log.info({ why: text, [text]: [{ [text]: text }] }, text)
    log.child({ executionId: text }).error({ err: new Error(text) }, "failed")
    const line = JSON.stringify({ level: "info", time: text, msg: text, process: text })
    log.relay("gateway").write(Buffer.from(`${line}\n${text}\n`))

    expect(written().split("\n").length).toBeGreaterThan(4)
    expect(showsHostile(written())).toBe(true)
    expect(harmfulIn(written())).toEqual([])
  })

  test("is written from its level on", () => {
    const { log, records } = captured({ level: "warn" })

    log.debug({}, "a")
    log.info({}, "b")
    log.warn({}, "c")
    log.error({}, "d")

    expect(records().map((record) => record["msg"])).toEqual(["c", "d"])
  })

  test("that cannot be made is counted, told, and throws nothing", () => {
    const { log, records } = captured({})

    log.info(throwing, "never seen")
    log.info({}, "next")

    const notice = { level: "warn", lostLines: 1, reason: "Error: no such fact" }
    expect(records()).toMatchObject([{ ...notice, msg: "log lines were lost" }, { msg: "next" }])
  })

  test("that was lost as the last one is told when the log is flushed", async () => {
    const { log, records } = captured({})

    log.info(throwing, "never seen")
    await log.flush()

    expect(records()).toMatchObject([{ msg: "log lines were lost", lostLines: 1 }])
  })
})

describe("what must not be in a log", () => {
  const hidden = "[redacted]"

  test.each(["debug", "info", "error"] as const)("secrets are redacted at %s", (level) => {
    const { log, written } = captured({ level: "debug" })

    log[level]({ token: "s3cret", headers: { authorization: "Bearer s3cret" } }, "one")
    log[level]({ request: { headers: { Authorization: "s3cret", cookie: "s3cret" } } }, "two")
    log[level]({ env: { KEY: "s3cret" }, launch: { env: { KEY: "s3cret" } } }, "three")
    log.child({ password: "s3cret", caller: { token: "s3cret" } })[level]({}, "four")

    expect(written()).not.toContain("s3cret")
    expect(written().split(hidden)).toHaveLength(9)
  })

  test("argv and command are for debug only", () => {
    const { log, records } = captured({ level: "debug" })
    const facts = { argv: ["claude", "-p"], spec: { command: "claude -p" } }

    log.info(facts, "above")
    log.debug(facts, "at debug")
    log.child({ argv: ["bound"] }).debug({}, "bound")

    expect(records()).toMatchObject([
      { argv: hidden, spec: { command: hidden } },
      facts,
      { argv: hidden },
    ])
  })
})

describe("text for people", () => {
  test.each([
    ["json", false, false],
    ["json", true, false],
    ["auto", false, false],
    ["auto", true, true],
    ["pretty", false, true],
  ] as const)("format %s, terminal %p: %p", async (format, isTerminal, pretty) => {
    const { log, written } = captured({ render: await renderingFor(format, { isTerminal }) })

    log.info({ pid: 12 }, "execution started")

    expect(written().startsWith("{")).toBe(!pretty)
    expect(written()).toContain(pretty ? "keeper: execution started" : '"msg":"execution started"')
  })
})

describe("the lines of another process", () => {
  test("pass as they are, in whatever pieces they come", () => {
    const { log, written } = captured({})
    const line = '{"level":"info","time":"2026-11-16T09:30:00.123Z","msg":"grüße"}\n'
    const relay = log.relay("gateway")

    for (const byte of Buffer.from(line)) relay.write(Uint8Array.of(byte))
    relay.write(Buffer.from(line + line))
    relay.end()

    expect(written()).toBe(line.repeat(3))
  })

  test("that are no log lines become events", () => {
    const { log, records } = captured({})
    const relay = log.relay("gateway")

    relay.write(Buffer.from('panic: "out" of\n\n{"a":1}\n[1]\nlast words'))
    relay.end()

    const texts = records().map((record) => record["text"])
    expect(texts).toEqual(['panic: "out" of', '{"a":1}', "[1]", "last words"])
    expect(records()[0]).toMatchObject({ process: "gateway", msg: "unstructured output" })
  })
})
