import { describe, expect, test } from "bun:test"
import { addressOf, httpUrl } from "../../../src/cli/connect/address.ts"

const home = "/home/user"

describe("the address of the service", () => {
  test("is a socket below the home directory by default", () => {
    expect(addressOf({ env: {}, home }, {})).toMatchObject({
      kind: "local",
      paths: { socket: "/home/user/.local/state/cc-executor/gateway.sock" },
    })
  })

  test("follows the variables that name the state directory", () => {
    const inXdg = addressOf({ env: { XDG_STATE_HOME: "/x" }, home }, {})
    const named = addressOf({ env: { CC_EXECUTOR_STATE_DIR: "/y" }, home }, {})
    const flag = addressOf({ env: { CC_EXECUTOR_STATE_DIR: "/y" }, home }, { "state-dir": "/z" })

    expect(inXdg).toMatchObject({ paths: { directory: "/x/cc-executor" } })
    expect(named).toMatchObject({ paths: { directory: "/y" } })
    expect(flag).toMatchObject({ paths: { directory: "/z" } })
  })

  test("is not disturbed by other settings that are wrong", () => {
    expect(addressOf({ env: { CC_EXECUTOR_PORT: "many" }, home }, {}).kind).toBe("local")
  })

  test.each([
    ["ws://host:8003/ws/mcp", "ws://host:8003/ws/mcp"],
    ["ws://host:8003", "ws://host:8003/ws/mcp"],
    ["http://host:8003", "ws://host:8003/ws/mcp"],
    ["https://host", "wss://host/ws/mcp"],
    ["https://host/behind/ws", "wss://host/behind/ws"],
  ])("%s is %s", (given, url) => {
    const tls = url.startsWith("wss:") ? ({ rejectUnauthorized: true } as const) : {}
    const remote = { kind: "remote", url, token: null, tls, context: null } as const
    expect(addressOf({ env: {}, home }, { url: given })).toEqual(remote)
    expect(addressOf({ env: { CC_EXECUTOR_URL: given }, home }, {})).toEqual(remote)
  })

  test("a state directory that is named comes before the variable with the address", () => {
    const env = { CC_EXECUTOR_URL: "ws://host" }

    expect(addressOf({ env, home }, { "state-dir": "/z" }).kind).toBe("local")
  })

  test.each(["host:8003", "ftp://host", "nonsense"])("%s is refused", (url) => {
    expect(() => addressOf({ env: {}, home }, { url })).toThrow(url)
  })

  test("serves plain requests, too", () => {
    expect(httpUrl("wss://host/ws/mcp?x=1", "/readyz")).toBe("https://host/readyz")
  })
})
