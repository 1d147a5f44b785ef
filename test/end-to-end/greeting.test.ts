import { describe, expect } from "bun:test"
import { existsSync } from "node:fs"
import { notifications } from "../../src/protocol/notifications.ts"
import { Service } from "../support/service.ts"
import { notRoot, testUnless } from "../support/test-unless.ts"

const python = "/usr/bin/python3"
const defaultPort = 8003

// Word for word what users of the first generation have in their scripts.
const greetingScript = `
import asyncio, json, websockets

async def main():
    async with websockets.connect('ws://localhost:8003/ws/mcp') as ws:
        print(json.dumps(json.loads(await ws.recv())))

asyncio.run(main())
`

const offeringScript = greetingScript.replace("/ws/mcp')", "/ws/mcp', subprotocols=['foo'])")

describe("a Python client on the default port", () => {
  const obstacle = missingPython() ?? takenPort()

  testUnless(obstacle, "gets the greeting, unchanged since the first generation", async () => {
    await using _service = await Service.start({ flags: { port: String(defaultPort) } })

    const greeting = JSON.parse(await runPython(greetingScript))

    expect(greeting.jsonrpc).toBe("2.0")
    expect(greeting.method).toBe("connected")
    const { session_id, version, capabilities } = notifications.connected.parse(greeting.params)
    expect(session_id).not.toBe("")
    expect(version).toMatch(/^\d+\.\d+\.\d+/)
    expect(capabilities).toEqual(expect.arrayContaining(["execute", "control", "stream"]))
  })

  testUnless(obstacle, "that offers a protocol of its own connects without one", async () => {
    await using _service = await Service.start({ flags: { port: String(defaultPort) } })

    const greeting = JSON.parse(await runPython(offeringScript))

    expect(greeting.method).toBe("connected")
  })

  const cannotUnshare = obstacle ?? notRoot ?? (Bun.which("ip") === null ? "needs `ip`" : null)
  testUnless(cannotUnshare, "gets it on a machine without IPv6 too", async () => {
    const enter = `ip link set lo up && echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6`
    const prefix = ["unshare", "--net", "sh", "-c", `${enter} && exec "$0" "$@"`]
    await using service = await Service.start({ flags: { port: String(defaultPort) }, prefix })

    const inside = ["nsenter", "--net", "--target", String(service.pid)]
    const greeting = JSON.parse(await runPython(greetingScript, inside))

    expect(greeting.method).toBe("connected")
  })
})

async function runPython(script: string, prefix: string[] = []): Promise<string> {
  const child = Bun.spawn([...prefix, python, "-c", script], { stdout: "pipe", stderr: "pipe" })
  const [said, complaint] = await Promise.all([child.stdout.text(), child.stderr.text()])
  if ((await child.exited) !== 0) throw new Error(complaint)
  return said
}

function missingPython(): string | null {
  if (!existsSync(python)) return `there is no ${python}`
  const imported = Bun.spawnSync([python, "-c", "import websockets"])
  return imported.exitCode === 0 ? null : "python3-websockets is not installed"
}

function takenPort(): string | null {
  try {
    for (const hostname of ["127.0.0.1", "::1"]) {
      Bun.listen({ hostname, port: defaultPort, socket: { data() {} } }).stop(true)
    }
    return null
  } catch {
    return `something else holds port ${defaultPort}`
  }
}
