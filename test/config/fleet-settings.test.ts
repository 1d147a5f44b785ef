import { describe, expect, test } from "bun:test"
import { type Config, loadConfig } from "../../src/config/config.ts"

const needed = {
  fleet: "tls://10.0.0.1:4222,tls://10.0.0.2:4222",
  advertise: "10.0.0.7:8004",
  "fleet-ca": "/f/ca.pem",
  "fleet-cert": "/f/node.pem",
  "fleet-key": "/f/key.pem",
}

describe("a node of a fleet", () => {
  test("needs an address for the others and its certificate", () => {
    const config = load(needed)
    expect(config.fleet).toEqual(["tls://10.0.0.1:4222", "tls://10.0.0.2:4222"])
    expect(config.advertise).toEqual({ host: "10.0.0.7", port: 8004 })

    expect(problems({ fleet: "tls://10.0.0.1:4222" })).toEqual([
      expect.stringContaining("add --advertise HOST:PORT"),
      expect.stringContaining("add --fleet-ca, --fleet-cert and --fleet-key"),
    ])
  })

  test("speaks TLS to its engine, except on loopback or for trying it out", () => {
    const open = { ...needed, fleet: "nats://10.0.0.1:4222" }
    expect(problems(open)).toEqual([expect.stringContaining("not encrypted")])
    expect(load({ ...open, "fleet-unsafe": true }).fleetUnsafe).toBe(true)
    for (const host of ["127.0.0.1", "localhost", "[::1]"]) {
      expect(load({ ...needed, fleet: `nats://${host}:4222` }).fleetUnsafe).toBe(false)
    }
  })

  test("has a name and labels", () => {
    const config = load({ ...needed, "node-name": "b-2", "node-labels": "gpu=true,zone=b" })
    expect(config.nodeName).toBe("b-2")
    expect(config.nodeLabels).toEqual({ gpu: "true", zone: "b" })
  })

  test.each([
    { "node-name": "B" },
    { "node-name": "-b" },
    { "node-name": "b.c" },
    { "node-name": "b".repeat(64) },
    { "node-labels": "gpu" },
    { "node-labels": "node=b" },
    { "node-labels": "gpu=1,gpu=2" },
    { fleet: "nats://user:secret@10.0.0.1:4222" },
    { fleet: "nats://10.0.0.1:4222,tls://10.0.0.2:4222" },
    { fleet: "http://10.0.0.1:4222" },
    { advertise: "10.0.0.7" },
    { advertise: "10.0.0.7:65536" },
    { "fleet-lost-after": "1s" },
  ])("is refused with %p", (wrong) => {
    const [source] = Object.keys(wrong)
    expect(problems({ ...needed, ...wrong })).toEqual([expect.stringContaining(`--${source}: `)])
  })

  test("may be told never to declare anything lost by itself", () => {
    expect(load({ ...needed, "fleet-lost-after": "never" }).fleetLostAfterMs).toBeNull()
  })
})

type Flags = Record<string, string | true>

function load(flags: Flags): Config {
  const loaded = loadConfig({ flags, env: {}, home: "/home/me" })
  if (!loaded.ok) throw new Error(loaded.failure.map(({ message }) => message).join("\n"))
  return loaded.value
}

function problems(flags: Flags): string[] {
  const loaded = loadConfig({ flags, env: {}, home: "/home/me" })
  return loaded.ok ? [] : loaded.failure.map(({ message }) => message)
}
