import { describe, expect, test } from "bun:test"
import { refusedName } from "../../src/execution/strict-request.ts"

describe("a program's name that is not plain", () => {
  test("is told whole, or not at all: no pattern finds half a secret", () => {
    const short = `./${"x".repeat(198)}`

    expect(refusedName(short)).toStartWith(`"${short}" is not a plain name`)
    expect(refusedName(`${short}y`)).toStartWith("the given name is not a plain name")
  })

  test("is another than a bare name or an absolute path", () => {
    expect(["cat", "/bin/cat"].map(refusedName)).toEqual([null, null])
    expect(refusedName("bin/../cat")).not.toBeNull()
  })
})
