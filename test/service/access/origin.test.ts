import { describe, expect, test } from "bun:test"
import {
  type Approach,
  type KnownNames,
  originChecker,
} from "../../../src/service/access/origin.ts"

const nobodyElse: KnownNames = { allowedHosts: [], allowedOrigins: [] }
const approach: Approach = {
  host: "localhost:8003",
  origin: null,
  fetchSite: null,
  isUnixSocket: false,
}

function isAllowed(change: Partial<Approach & KnownNames>): boolean {
  return originChecker({ ...nobodyElse, ...change })({ ...approach, ...change }).ok
}

describe("a program, which sends no Origin", () => {
  test.each([
    "localhost",
    "localhost:8003",
    "LOCALHOST:8003",
    "localhost.",
    "127.0.0.1:8003",
    "127.1.2.3",
    "127.1",
    "[::1]:8003",
    "[0:0:0:0:0:0:0:1]",
  ])("reaches the service as %s", (host) => {
    expect(isAllowed({ host })).toBe(true)
  })

  test.each([
    "evil.example",
    "evil.example:8003",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "evil-localhost",
    "app.localhost",
    "user@localhost",
    "localhost/evil.example",
    "localhost#",
    "192.168.1.5:8003",
    "0.0.0.0:8003",
    "128.0.0.1",
    "[::2]",
    "[::ffff:8.8.8.8]",
    "localhost:port",
    "",
  ])("does not reach it as %p", (host) => {
    expect(isAllowed({ host })).toBe(false)
  })

  test("reaches it by a configured name, on any port, and by no other", () => {
    const allowedHosts = ["Executor.internal", "10.0.0.7", "fd00::7"]

    expect(isAllowed({ host: "executor.internal:9000", allowedHosts })).toBe(true)
    expect(isAllowed({ host: "10.0.0.7:8003", allowedHosts })).toBe(true)
    expect(isAllowed({ host: "[fd00::7]:8003", allowedHosts })).toBe(true)
    expect(isAllowed({ host: "other.internal", allowedHosts })).toBe(false)
    expect(isAllowed({ host: "10.0.0.8", allowedHosts })).toBe(false)
  })

  test.each(["0.0.0.0", "::"])("with %s configured, reaches it by any address", (wildcard) => {
    const allowedHosts = [wildcard]

    expect(isAllowed({ host: "192.168.1.5:8003", allowedHosts })).toBe(true)
    expect(isAllowed({ host: "[fd00::7]:8003", allowedHosts })).toBe(true)
    expect(isAllowed({ host: "evil.example", allowedHosts })).toBe(false)
  })

  test("says any Host over the unix socket", () => {
    expect(isAllowed({ host: "evil.example", isUnixSocket: true })).toBe(true)
    expect(isAllowed({ host: "", isUnixSocket: true })).toBe(true)
  })
})

describe("a page", () => {
  test.each([
    ["localhost:8003", "http://localhost:8003"],
    ["127.0.0.1:8003", "http://127.0.0.1:8003"],
    ["[::1]:8003", "http://[::1]:8003"],
    ["LOCALHOST:8003", "http://localhost:8003"],
  ])("that the service itself gave out as %s may use it", (host, origin) => {
    expect(isAllowed({ host, origin })).toBe(true)
    expect(isAllowed({ host, origin, fetchSite: "same-origin" })).toBe(true)
  })

  test.each([
    "http://localhost:3000",
    "https://localhost",
    "http://127.0.0.1:8003",
    "http://[::1]:8003",
    "http://evil.example",
    "https://localhost.evil.example",
    "http://192.168.1.5:8003",
    "null",
    "file://",
    "file://localhost",
    "chrome-extension://abcdefgh",
    "vscode-webview://localhost",
    "not a url",
    "",
  ])("of another origin may not, also of this machine: %p", (origin) => {
    expect(isAllowed({ origin })).toBe(false)
    expect(isAllowed({ origin, isUnixSocket: true })).toBe(false)
  })

  test("of a configured origin may use it, and of its neighbours none", () => {
    const allowedOrigins = ["https://console.example:8443"]

    expect(isAllowed({ allowedOrigins, origin: "https://console.example:8443" })).toBe(true)
    expect(isAllowed({ allowedOrigins, origin: "https://console.example" })).toBe(false)
    expect(isAllowed({ allowedOrigins, origin: "http://console.example:8443" })).toBe(false)
  })

  test("that the service itself gave out may use it where any address is allowed", () => {
    const allowedHosts = ["0.0.0.0"]
    const host = "192.168.1.5:8003"

    expect(isAllowed({ host, allowedHosts, origin: "http://192.168.1.5:8003" })).toBe(true)
    expect(isAllowed({ host, allowedHosts, origin: "http://192.168.1.5:9000" })).toBe(false)
    expect(isAllowed({ host, allowedHosts, origin: "http://192.168.1.6:8003" })).toBe(false)
  })
})

describe("a browser that sends no Origin, as for an image or a link", () => {
  test.each(["cross-site", "same-site", "Cross-Site", "none, cross-site", ""])(
    "is turned away from a page that is %p",
    (fetchSite) => {
      expect(isAllowed({ fetchSite })).toBe(false)
    },
  )

  test.each(["same-origin", "none"])("is let in by %s: its own page, or its user", (fetchSite) => {
    expect(isAllowed({ fetchSite })).toBe(true)
  })
})

test("a refusal is FORBIDDEN and says to whom", () => {
  const refused = originChecker(nobodyElse)({ ...approach, origin: "http://evil.example" })

  expect(refused).toMatchObject({ ok: false, failure: { reason: "FORBIDDEN" } })
  expect(JSON.stringify(refused)).toContain("evil.example")
})
