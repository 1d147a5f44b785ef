import { seededRandom } from "../../../support/seeded-random.ts"
import { type NodeName, nodeNames, serverNames, type WiredFleet } from "./wired-fleet.ts"

type Interval = { from: number; to: number }

export type Chaos = {
  /** What was done, for whoever has to understand a failed run. */
  deeds: string[]
  /** When the engine could not answer anybody. */
  engineDown: Interval[]
}

/** Breaks something every moment, one thing at a time, and mends it: the same for the same seed. */
export async function wreak(
  fleet: WiredFleet,
  seed: number,
  ms: number,
  upgradeTo: string | null,
): Promise<Chaos> {
  const random = seededRandom(seed)
  const chaos: Chaos = { deeds: [], engineDown: [] }
  const untilMs = performance.now() + ms
  const pick = <Item>(items: readonly Item[]) => items[random(items.length)] ?? items[0]
  let hasUpgraded = upgradeTo === null

  while (performance.now() < untilMs) {
    const node = pick(nodeNames) ?? "a"
    const server = pick(serverNames) ?? "e1"
    const forMs = 500 + random(3_500)
    const kind = random(7)
    chaos.deeds.push(
      `${Math.round(untilMs - performance.now())} ms left: ${kind} ${node} ${server}`,
    )
    switch (kind) {
      case 0:
        fleet.service(node).kill("SIGKILL")
        await fleet.service(node).exited
        await Bun.sleep(forMs)
        await fleet.again(node)
        break
      case 1:
        process.kill(fleet.service(node).gatewayPid, "SIGKILL")
        await Bun.sleep(forMs / 4)
        break
      case 2:
        await paused(fleet, node, forMs)
        break
      case 3:
        fleet.network.cut(node)
        await Bun.sleep(forMs)
        fleet.network.heal(node)
        break
      case 4:
        fleet.engine.signal(server, "SIGKILL")
        await Bun.sleep(forMs)
        fleet.engine.start(server)
        break
      case 5:
        fleet.network.cut(server)
        await Bun.sleep(forMs)
        fleet.network.heal(server)
        break
      case 6:
        if (hasUpgraded) chaos.engineDown.push(await withoutEngine(fleet, 1_000 + forMs))
        else await upgrade(fleet, node, upgradeTo ?? "")
        hasUpgraded = true
        break
    }
    await Bun.sleep(random(800))
  }
  return chaos
}

async function paused(fleet: WiredFleet, node: NodeName, ms: number): Promise<void> {
  const service = fleet.service(node)
  const pids = [service.pid, service.gatewayPid]
  for (const pid of pids) process.kill(pid, "SIGSTOP")
  await Bun.sleep(ms)
  for (const pid of pids) process.kill(pid, "SIGCONT")
}

async function withoutEngine(fleet: WiredFleet, ms: number): Promise<Interval> {
  for (const server of serverNames) fleet.network.cut(server)
  const from = Date.now()
  await Bun.sleep(ms)
  const to = Date.now()
  for (const server of serverNames) fleet.network.heal(server)
  return { from, to }
}

async function upgrade(fleet: WiredFleet, node: NodeName, program: string): Promise<void> {
  const { stateDir } = fleet.service(node)
  const command = ["upgrade", "--to", program, "--state-dir", stateDir]
  const run = Bun.spawn([program, ...command], { stdio: ["ignore", "ignore", "ignore"] })
  await run.exited
}
