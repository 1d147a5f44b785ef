import { describe, expect, test } from "bun:test"
import {
  readResourceUri,
  resourceUri,
} from "../../../../../src/service/transports/mcp/resources/resource-uri.ts"

const id = "k3tq7mzxw5yhd2vbn4c6fsaelu"

describe("the address of a resource", () => {
  test.each(["state", "transcript", "receipt"] as const)("of kind %s is read as made", (kind) => {
    expect(readResourceUri(resourceUri(kind, id))).toEqual({ kind, id, from: "start" })
  })

  test("may have a name in place of an id, whatever that consists of", () => {
    const name = "back up/site: 100%?#é"
    expect(readResourceUri(resourceUri("receipt", name))).toMatchObject({ id: name })
  })

  test("carries a cursor, whatever it consists of", () => {
    const from = "1.0.qp.1c4e.xg.0@123&x=#?"
    expect(readResourceUri(resourceUri("transcript", id, from))?.from).toBe(from)
  })

  test.each([
    "",
    "file:///etc/passwd",
    `https://executions/${id}`,
    `cc-executor://elsewhere/${id}`,
    "cc-executor://executions/",
    `cc-executor://executions/${id}/secrets`,
    `cc-executor://executions/${id}/transcript/more`,
    "cc-executor://executions/%ff",
  ])("is not %p", (uri) => {
    expect(readResourceUri(uri)).toBeNull()
  })
})
