import { describe, expect, test } from "bun:test"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { callTool, eras, mcpClient, ProgramTransport } from "../support/bridge-clients.ts"
import { executable, isRunning, Service } from "../support/service.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { until } from "../support/until.ts"

const paths = ["/ws/mcp", "/mcp"]
const cases = paths.flatMap((path) => eras.map((era) => [path, era] as const))

describe.each(cases)("a bridge to the service's %s, %s era", (path, era) => {
  test("goes on when the gateway is killed under a call, which is made once", async () => {
    using folder = temporaryFolder()
    const notes = join(folder.path, "notes")
    await using service = await Service.start()
    const argv = [executable, "bridge", "--to", await service.url(path)]
    await using transport = new ProgramTransport(argv)
    const client = await mcpClient(era, transport)
    const wait = `until [ -e ${notes}.go ]; do sleep 0.05; done`

    const call = callTool(client, "run", { command: `echo began >> ${notes}; ${wait}; echo done` })
    await until("it runs", () => Bun.file(notes).exists())
    const killed = service.gatewayPid
    process.kill(killed, "SIGKILL")
    await until("it is gone", () => !isRunning(killed))
    writeFileSync(`${notes}.go`, "")

    expect(await call).toContain("done")
    expect(readFileSync(notes, "utf8")).toBe("began\n")
    expect((await client.listTools()).tools.length).toBeGreaterThan(5)
    await client.close()
  }, 60_000)
})
