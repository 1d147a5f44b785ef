import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { RawSession } from "../support/raw-session.ts"
import { collectLines, Service } from "../support/service.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { until } from "../support/until.ts"

// What systemd does for Type=notify: a socket, and a line for each message that comes.
const listener = `
import socket, sys
listening = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listening.bind(sys.argv[1].replace("@", "\\0", 1) if sys.argv[1][0] == "@" else sys.argv[1])
print("listening", flush=True)
while True: print(listening.recv(1024).decode(), flush=True)
`

describe("a service manager that waits to be told", () => {
  test.each(["a file", "an abstract name"])("hears of it by %s", async (kind) => {
    using folder = temporaryFolder()
    const path = join(folder.path, "notify.sock")
    const address = kind === "a file" ? path : `@${path}`
    await using manager = await Manager.start(address)

    await using service = await Service.start({ env: { NOTIFY_SOCKET: address } })
    await until("it is ready", () => manager.heard.includes("READY=1"))
    using session = await RawSession.open(await service.url())
    const child = await session.run({ argv: ["printenv"] })
    service.kill("SIGTERM")

    expect(await service.exited).toBe(0)
    await until("it is stopping", () => manager.heard.includes("STOPPING=1"))
    expect(manager.heard).toEqual(["listening", "READY=1", "STOPPING=1"])
    expect(child.stdout).not.toContain("NOTIFY_SOCKET")
  })

  test.each(["/no/such/socket", "relative", "", `/${"x".repeat(200)}`])(
    "does not keep the service from running when it cannot be told: %s",
    async (address) => {
      await using service = await Service.start({ env: { NOTIFY_SOCKET: address } })
      using session = await RawSession.open(await service.url())
      expect((await session.run({ command: "echo on" })).stdout).toBe("on\n")
    },
  )
})

class Manager implements AsyncDisposable {
  readonly heard: string[] = []
  readonly #program

  constructor(address: string) {
    this.#program = Bun.spawn(["python3", "-c", listener, address], { stdout: "pipe" })
    void collectLines(this.#program.stdout, (line) => this.heard.push(line))
  }

  static async start(address: string): Promise<Manager> {
    const manager = new Manager(address)
    await until("it listens", () => manager.heard.includes("listening"))
    return manager
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#program.kill()
    await this.#program.exited
  }
}
