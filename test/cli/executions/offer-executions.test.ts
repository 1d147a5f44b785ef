import { describe, expect, test } from "bun:test"
import { candidatesFrom } from "../../../src/cli/executions/offer-executions.ts"
import { viewOf } from "../../../src/protocol/execution-view.ts"
import { sampleRecord } from "../../support/sample-record.ts"

const long = (beginning: string) => beginning.padEnd(26, "a")

function view(beginning: string, labels: Record<string, string> = {}) {
  const record = sampleRecord()
  const spec = { ...record.spec, command: null, argv: ["make", "all"], labels }
  return viewOf({ ...record, id: long(beginning), spec })
}

describe("executions, as shells offer them", () => {
  test("have short ids, and names beside them", () => {
    const { state } = view("k3tq7mzx")

    expect(candidatesFrom([view("k3tq7mzx", { name: "nightly" }), view("p5xw7ezh")], "")).toEqual([
      { value: "nightly", about: `k3tq7mzx ${state} make all` },
      { value: "k3tq7mzx", about: `nightly ${state} make all` },
      { value: "p5xw7ezh", about: `${state} make all` },
    ])
  })

  test("are offered by whole ids where more was typed, or the short ones are the same", () => {
    const twins = [view("k3tq7mzxb"), view("k3tq7mzxc"), view("p5xw7ezh")]
    const values = (typed: string) => candidatesFrom(twins, typed).map(({ value }) => value)

    expect(values("")).toEqual([long("k3tq7mzxb"), long("k3tq7mzxc"), "p5xw7ezh"])
    expect(values("p5xw7ezha")[2]).toBe(long("p5xw7ezh"))
  })

  test("are offered by the name of the first that has it, if that is a plain word", () => {
    const names = ["twice", "twice", ":files", "-x", "two words", "a\nb", "$(reboot)", "é.1"]
    const views = names.map((name, nth) => view("bcdefghi"[nth] ?? "", { name }))

    const offered = candidatesFrom(views, "").map(({ value }) => value)

    expect(offered.filter((value) => value.length < 8)).toEqual(["twice", "é.1"])
    expect(offered).toHaveLength(names.length + 2)
  })
})
