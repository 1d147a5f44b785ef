import type { Figure } from "../bench.ts"
import { MeasuredService } from "./measured-service.ts"
import { SocketClient } from "./socket-client.ts"
import { rounded } from "./statistics.ts"

const floodMs = 8000

/** Memory of both processes: idle, under a flood that is read, under one whose reader stalls. */
export async function measureMemory(executable: string): Promise<Figure[]> {
  await using service = await MeasuredService.start(executable)
  const figures = [...told("idle", service)]

  {
    using client = await SocketClient.open(service.url)
    await client.call("execute", { argv: ["yes"], budget: { bytes: 67_108_864 } })
    await Bun.sleep(floodMs)
    figures.push(...told("`yes`, fast client", service))
    await client.call("control", { type: "CANCEL" })
  }
  {
    const stalled = await stalledClient(service.url)
    await Bun.sleep(floodMs)
    figures.push(...told("`yes`, stalled client", service))
    stalled.kill("SIGKILL")
    await stalled.exited
  }
  return figures
}

/** A client in another process, stopped in the middle: its socket fills and stays full. */
async function stalledClient(url: string): Promise<Bun.Subprocess> {
  const program = `
    const socket = new WebSocket(${JSON.stringify(url)})
    const params = { argv: ["yes"], budget: { bytes: 67108864 }, on_disconnect: "cancel" }
    socket.onopen = () =>
      socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "execute", params }))
    socket.onmessage = ({ data }) => {
      if (data.includes("process.output")) process.kill(process.pid, "SIGSTOP")
    }`
  return Bun.spawn([process.execPath, "-e", program], { stdin: "ignore" })
}

function told(when: string, service: MeasuredService): Figure[] {
  const memory = service.memory()
  return (["keeper", "gateway"] as const).flatMap((name) => [
    { what: `${name} RSS, ${when}`, value: rounded(memory[name].rssMb), unit: "MB" },
    { what: `${name} PSS, ${when}`, value: rounded(memory[name].pssMb), unit: "MB" },
  ])
}
