import { below, type Measured } from "./figure.ts"
import { Floor } from "./floor.ts"
import { MeasuredService } from "./measured-service.ts"
import type { Memory } from "./process-cost.ts"
import { SocketClient } from "./socket-client.ts"
import { median } from "./statistics.ts"

const sessions = 1000
const warmUps = 20
const settleMs = 2500
const rounds = 3
const about = `Growth of keeper and gateway together when ${sessions} sessions connect, ask once
  and fall silent; median of ${rounds} services. The floor is the bare script with as many open
  sockets.`

/**
 * What idle sessions cost: the growth of both processes, from after a first few sessions have come
 * and gone. Each of ours has asked once before it falls silent, which also shows that it is one.
 * The kernel's memory for sockets is in no process's RSS, ours or the floor's.
 */
export async function measureSessions(executable: string): Promise<Measured> {
  const ours: Memory[] = []
  const floors: Memory[] = []
  for (let round = 0; round < rounds; round++) {
    await using service = await MeasuredService.start(executable, [
      "--max-sessions",
      String(sessions + warmUps),
    ])
    await using floor = await Floor.start()
    ours.push(
      await growth({
        open: async () => {
          const client = await SocketClient.open(service.url)
          await client.call("list", { limit: 1 })
          return client
        },
        memory: () => {
          const { keeper, gateway } = service.memory()
          return { rssMb: keeper.rssMb + gateway.rssMb, pssMb: keeper.pssMb + gateway.pssMb }
        },
      }),
    )
    floors.push(
      await growth({
        open: () => SocketClient.open(floor.url("idle")),
        memory: () => floor.memory(),
      }),
    )
  }

  const figures = (["rssMb", "pssMb"] as const).map((kind) => ({
    what: `${sessions} idle sessions, ${kind === "rssMb" ? "RSS" : "PSS"} of both`,
    value: median(ours.map((memory) => memory[kind])),
    unit: "MB",
    floor: median(floors.map((memory) => memory[kind])),
    aim: below(20),
  }))
  return { about, figures, plots: [] }
}

type Server = { open: () => Promise<SocketClient>; memory: () => Memory }

async function growth(server: Server): Promise<Memory> {
  for (const client of await opened(server, warmUps)) client[Symbol.dispose]()
  await Bun.sleep(settleMs)
  const before = server.memory()
  using clients = new DisposableStack()
  for (const client of await opened(server, sessions)) clients.use(client)
  await Bun.sleep(settleMs)
  const after = server.memory()
  return { rssMb: after.rssMb - before.rssMb, pssMb: after.pssMb - before.pssMb }
}

async function opened(server: Server, count: number): Promise<SocketClient[]> {
  const clients: SocketClient[] = []
  const atOnce = 50
  while (clients.length < count) {
    const batch = Math.min(atOnce, count - clients.length)
    clients.push(...(await Promise.all(Array.from({ length: batch }, () => server.open()))))
  }
  return clients
}
