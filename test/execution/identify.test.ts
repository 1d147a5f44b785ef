import { describe, expect, test } from "bun:test"
import { identify, type NamedExecution } from "../../src/execution/identify.ts"

const id = (beginning: string) => beginning.padEnd(26, "a")

/** What of these alice means by a text. */
function meant(given: string, named: NamedExecution[], ids: string[] = []) {
  return identify(given, "alice", {
    withName: () => named,
    withPrefix: (prefix, limit) => ids.filter((one) => one.startsWith(prefix)).slice(0, limit),
  })
}

const of = (principal: string, beginning: string, isLive = false): NamedExecution => ({
  id: id(beginning),
  principal,
  isLive,
})

describe("an execution is meant", () => {
  test("by its whole id, whoever else is called so", () => {
    expect(meant(id("x"), [of("alice", "b", true)])).toEqual({ kind: "found", id: id("x") })
  })

  test("by its name before a beginning of an id", () => {
    const found = meant("ab", [of("alice", "q")], [id("abc")])

    expect(found).toEqual({ kind: "found", id: id("q") })
  })

  test("by a beginning of its id, if no other begins so", () => {
    expect(meant("ab", [], [id("abc"), id("b")])).toEqual({ kind: "found", id: id("abc") })
    expect(meant("ab", [], [id("abc"), id("abd")])).toEqual({
      kind: "ambiguous",
      candidates: [id("abc"), id("abd")],
      message: "Several executions begin with ab: use more characters of the id.",
    })
  })

  test("by nothing that is neither", () => {
    expect(meant("nobody", [])).toEqual({ kind: "unknown" })
    expect(meant("", [of("alice", "b")], [id("abc")])).toEqual({ kind: "unknown" })
    expect(meant("No Body!", [], [id("abc")])).toEqual({ kind: "unknown" })
  })
})

describe("among executions with the same name", () => {
  test("one's own comes first, even where another's is live", () => {
    const named = [of("bob", "b", true), of("alice", "q")]

    expect(meant("nightly", named)).toEqual({ kind: "found", id: id("q") })
  })

  test("what is live comes before what has ended, of others", () => {
    const named = [of("bob", "b"), of("carol", "c", true), of("dave", "d")]

    expect(meant("nightly", named)).toEqual({ kind: "found", id: id("c") })
  })

  test("nobody's is chosen where several others have one, and all are told", () => {
    const named = [of("bob", "b", true), of("carol", "c", true), of("dave", "d")]

    expect(meant("nightly", named)).toEqual({
      kind: "ambiguous",
      candidates: [id("b"), id("c")],
      message:
        `"nightly" may mean several executions: ${id("b")} of bob, ${id("c")} of carol. ` +
        "Use the id.",
    })
  })
})

describe("a name that others have chosen", () => {
  test("never takes the place of an id that begins so", () => {
    const named = [of("mallory", "m", true)]

    expect(meant("abcdefgh", named, [id("abcdefgh")])).toEqual({
      kind: "ambiguous",
      candidates: [id("m"), id("abcdefgh")],
      message:
        `"abcdefgh" may mean several executions: ${id("m")} of mallory, ${id("abcdefgh")}. ` +
        "Use the id.",
    })
  })

  test("may be the beginning of its own id", () => {
    expect(meant("mmm", [of("bob", "mmm")], [id("mmm")])).toEqual({ kind: "found", id: id("mmm") })
  })
})
