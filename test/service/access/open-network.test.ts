import { describe, expect, test } from "bun:test"
import { clearTextWarning, openNetworkProblem } from "../../../src/service/access/open-network.ts"

const nobodyKnown = { hasTokens: false, asksForCertificates: false, speaksTls: false }

describe("an address that other machines can reach", () => {
  test.each(["0.0.0.0", "::", "192.168.1.5", "127.0.0.1,10.0.0.1"])(
    "%s is not listened on while nobody there could show who they are",
    (listed) => {
      const hosts = listed.split(",")
      const problem = openNetworkProblem({ hosts, ...nobodyKnown })

      expect(problem).toContain(hosts.at(-1) ?? "")
      expect(problem).toContain("cc-executor token create")
      expect(problem).toContain("--accept-token-file")
      expect(problem).toContain("--tls-client-ca")
    },
  )

  test("is listened on with tokens, or with client certificates", () => {
    const hosts = ["0.0.0.0"]

    expect(openNetworkProblem({ ...nobodyKnown, hosts, hasTokens: true })).toBeNull()
    expect(openNetworkProblem({ ...nobodyKnown, hosts, asksForCertificates: true })).toBeNull()
  })
})

test("loopback needs nothing, and neither does the unix socket alone", () => {
  for (const hosts of [["127.0.0.1", "::1"], ["127.8.8.8"], []]) {
    expect(openNetworkProblem({ hosts, ...nobodyKnown })).toBeNull()
  }
})

test("without TLS, what goes over a network is warned of, and over loopback not", () => {
  const tokens = { ...nobodyKnown, hasTokens: true }

  expect(clearTextWarning({ ...tokens, hosts: ["10.0.0.1"] })).toContain("--tls-cert")
  expect(clearTextWarning({ ...tokens, hosts: ["10.0.0.1"], speaksTls: true })).toBeNull()
  expect(clearTextWarning({ ...tokens, hosts: ["127.0.0.1", "::1"] })).toBeNull()
})
