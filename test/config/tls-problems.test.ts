import { describe, expect, test } from "bun:test"
import { loadConfig } from "../../src/config/config.ts"

const tls = { "tls-cert": "/c.pem", "tls-key": "/k.pem" }
const clients = { ...tls, "tls-client-ca": "/clients.pem" }

describe("settings of TLS", () => {
  test("are accepted together, with or without client certificates", () => {
    expect(problemsOf(tls)).toEqual([])
    expect(problemsOf(clients)).toEqual([])
    expect(problemsOf({ ...clients, port: "none" })).toEqual([]) // a service for this user alone
    expect(problemsOf({ ...clients, "client-cert-scopes": "read, ADMIN" })).toEqual([])
  })

  test.each([
    [{ "tls-cert": "/c.pem" }, "--tls-cert: the key is missing: add --tls-key"],
    [{ "tls-key": "/k.pem" }, "--tls-key: the certificate is missing: add --tls-cert"],
    [{ "tls-client-ca": "/a.pem" }, "--tls-client-ca: client certificates need TLS"],
    [{ "client-cert-scopes": "read,root" }, '--client-cert-scopes: "read,root" is not valid'],
  ])("%p alone is refused", (flags, message) => {
    expect(problemsOf(flags)).toEqual([expect.stringContaining(message)])
  })
})

function problemsOf(flags: Record<string, string>): string[] {
  const loaded = loadConfig({ flags, env: {}, home: "/home/me" })
  return loaded.ok ? [] : loaded.failure.map(({ message }) => message)
}
