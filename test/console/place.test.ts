import { describe, expect, test } from "bun:test"
import { addressOf, placeOf } from "../../src/console/place.ts"

describe("an address", () => {
  test.each([
    "#/",
    "#/start",
    "#/inbox",
    "#/inbox/abc-q1",
    "#/work",
    "#/service",
    "#/executions/abc",
    "#/executions/abc/line/12",
    "#/executions/abc/session",
    "#/executions/abc/terminal",
    "#/executions/abc/record",
    "#/executions/a%2Fb%20c",
  ])("%s names a place, and the place names it", (address) => {
    const place = placeOf(address)
    if (place.kind === "unknown") throw new Error(`${address} is unknown`)
    expect(addressOf(place)).toBe(address)
  })

  test.each(["#/nowhere", "#/executions/", "#/executions/abc/line/x", "#/executions/abc/other"])(
    "%s leads nowhere",
    (address) => {
      expect(placeOf(address).kind).toBe("unknown")
    },
  )

  test("that is no valid one is taken as it stands", () => {
    expect(placeOf("#/executions/%E0%A4%A")).toMatchObject({ id: "%E0%A4%A" })
  })
})
