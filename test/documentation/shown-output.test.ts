import { describe, expect, test } from "bun:test"
import { ShownOutput } from "./shown-output.ts"

const id = "k3tq7mzxw5yhd2vbn4c6fsaelu"
const real = "abcdefghijklmnopqrstuvwxyz"

describe("what varies", () => {
  test.each([
    ["a time", "at 2026-11-16T09:30:00.123Z", "at 2027-01-02T03:04:05.999Z"],
    ["a time of day", "09:30:00 started", "23:59:59 started"],
    ["a duration", "ended after 12.1s", "ended after 3m04s"],
    ["a duration with a space", "within 300 ms", "within 2 ms"],
    ["a size", "48 KiB  make", "1.5 MiB make"],
    ["a pid", "pid 4711", "pid 1"],
    ["a pid in JSON", '{"pid":4711,"exit":0}', '{"pid":12,"exit":0}'],
    ["seconds", '"execution_time":0.0079,"x":1', '"execution_time":1.25000001,"x":1'],
    ["a UUID", "c5f841b0-5f95-41d6-a5a6-b5f02ceec951", "00000000-0000-0000-0000-000000000000"],
    ["a free port", "ws://127.0.0.1:45678/", "ws://127.0.0.1:38001/"],
    ["a version", "cc-executor 0.1.0", "cc-executor 12.4.1-rc.1"],
    ["a hash", `head ${"0a".repeat(32)}`, `head ${"f1".repeat(32)}`],
    ["a token", "cce_a2_b3", "cce_nejoejkme7_hih56gsf"],
    ["a cursor", '"next":"1.0.5b.6.1.0"', '"next":"1.0.ff.12.2.0"'],
    ["an id", `id ${id}`, `id ${real}`],
    ["a short id", "k3tq7mzx running", "abcdefgh running"],
    ["spaces", "a  b", "a b"],
    ["what is left out", "Token … is good", "Token a, b and c is good"],
  ])("%s may be another of its kind", (_, shown, printed) => {
    expect(new ShownOutput().difference([shown], [printed])).toBeNull()
  })

  test("goes on over lines where a line is left out", () => {
    const shown = ["first", "…", "last"]

    expect(new ShownOutput().difference(shown, ["first", "a", "b", "last"])).toBeNull()
    expect(new ShownOutput().difference(shown, ["first", "last"])).toBeNull()
    expect(new ShownOutput().difference(shown, ["first", "a"])).not.toBeNull()
    expect(new ShownOutput().difference(shown, ["a", "last"])).not.toBeNull()
  })
})

describe("what does not vary", () => {
  test.each([
    ["a word", "hello", "help"],
    ["a number", "exit code 3", "exit code 4"],
    ["a small size", "6 B", "7 B"],
    ["another kind", "12.1s", "48 KiB"],
    ["a port that is named", "127.0.0.1:8003", "127.0.0.1:8004"],
    ["an address", "127.0.0.1", "127.0.0.2"],
    ["case", "Running", "running"],
    ["more in the line", "hello", "hello you"],
    ["less in the line", "hello you", "hello"],
    ["a word that looks like an id", "canceled", "finished"],
  ])("%s must be the same", (_, shown, printed) => {
    expect(new ShownOutput().difference([shown], [printed])).not.toBeNull()
  })

  test("a line that is not shown, and one that is not printed", () => {
    expect(new ShownOutput().difference([], ["more"])).toContain("not shown")
    expect(new ShownOutput().difference(["more"], [])).toContain("not printed")
    expect(new ShownOutput().difference([], ["", ""])).toBeNull()
  })
})

describe("a name", () => {
  test("stands for the one that came in its place, in commands and in output", () => {
    const output = new ShownOutput()
    expect(output.difference([id], [real])).toBeNull()

    expect(output.inUse("cc-executor logs -f k3t # make -k3t x.k3t")).toBe(
      "cc-executor logs -f abcdefgh # make -k3t x.k3t",
    )
    expect(output.difference(["k3tq7mzx  running"], ["abcdefgh  running"])).toBeNull()
    expect(output.difference(["k3tq7mzx  running"], ["zyxwvuts  running"])).not.toBeNull()
    expect(output.difference([id], [real.replace("z", "a")])).not.toBeNull()
  })

  test("can be a hash, which is the same wherever it is shown", () => {
    const [shown, first, second] = ["0a", "f1", "f2"].map((pair) => pair.repeat(32))
    if (shown === undefined || first === undefined || second === undefined) throw new Error()

    expect(new ShownOutput().difference([shown, shown], [first, first])).toBeNull()
    expect(new ShownOutput().difference([shown, shown], [first, second])).not.toBeNull()
  })

  test("of a line that only seemed to be the one is not kept", () => {
    const output = new ShownOutput()
    const printed = ["aaaaaaaa done", "x", "bbbbbbbb done", "end"]

    expect(output.difference(["…", "k3tq7mzx done", "end"], printed)).toBeNull()
    expect(output.inUse("logs k3t")).toBe("logs bbbbbbbb")
  })
})
