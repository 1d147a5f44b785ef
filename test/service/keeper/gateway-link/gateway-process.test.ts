import { describe, expect, test } from "bun:test"
import type { KeeperMessage } from "../../../../src/protocol/ipc.ts"
import { AuditedKeeper } from "../../../../src/service/keeper/audit/audited-keeper.ts"
import {
  GatewayProcess,
  type GatewayProcessOptions,
} from "../../../../src/service/keeper/gateway-link/gateway-process.ts"
import { GatewayUpdates } from "../../../../src/service/keeper/gateway-link/gateway-updates.ts"
import { Keeper } from "../../../../src/service/keeper/keeper.ts"
import { KeeperMetrics } from "../../../../src/service/keeper/reports/keeper-metrics.ts"
import { ManualClock, settled } from "../../../support/manual-clock.ts"
import { NotedAudit } from "../../../support/noted.ts"
import { QuietLog } from "../../../support/quiet-log.ts"
import { sampleSettings } from "../../../support/sample-settings.ts"
import {
  keeperPorts,
  keeperSettings,
  notAskedHere,
  scriptedSessions,
} from "../../../support/scripted-keeper.ts"

/** A gateway that says and does what the test makes it. */
class ScriptedGateway {
  readonly sent: KeeperMessage[] = []
  readonly kills: string[] = []
  readonly say: (message: unknown) => void
  readonly pid: number
  readonly #exited = Promise.withResolvers<string>()

  constructor(pid: number, say: (message: unknown) => void) {
    this.pid = pid
    this.say = say
  }

  get port() {
    return {
      pid: this.pid,
      send: (message: KeeperMessage) => void this.sent.push(message),
      kill: (signal: string) => void this.kills.push(signal),
      exited: this.#exited.promise,
    }
  }

  async die(how = "SIGKILL"): Promise<void> {
    this.#exited.resolve(how)
    await settled()
  }

  kinds(): string[] {
    return this.sent.map(({ kind }) => kind)
  }
}

function opened(admitting: "at once" | "when told" = "at once") {
  const clock = new ManualClock()
  const log = new QuietLog()
  const updates = new GatewayUpdates(() => null, clock)
  const gateways: ScriptedGateway[] = []
  const started: Array<number | null> = []
  const metrics = new KeeperMetrics(clock)
  const ports = keeperPorts(clock)
  const keeper = new Keeper(keeperSettings, ports)
  const audited = new AuditedKeeper(keeper, new NotedAudit(), clock, null)
  const machine = { isShort: false }
  const options: GatewayProcessOptions = {
    start: (received) => {
      if (machine.isShort) throw Object.assign(new Error("no process"), { code: "EAGAIN" })
      const scripted = new ScriptedGateway(1000 + gateways.length, received)
      gateways.push(scripted)
      return scripted.port
    },
    settings: structuredClone(sampleSettings),
    keeper,
    audited,
    ...scriptedSessions(keeper, audited, ports),
    ...notAskedHere,
    updates,
    metrics,
    report: { obstacles: () => [], metrics: () => [] },
    clock,
    log,
    onStarted: (pid) => void started.push(pid),
  }
  const gateway = new GatewayProcess(options, admitting)
  const first = gateway.open()
  const latest = () => {
    const last = gateways.at(-1)
    if (last === undefined) throw new Error("no gateway was started")
    return last
  }
  return { clock, keeper, log, metrics, gateway, gateways, started, first, latest, machine }
}

describe("the gateway's process", () => {
  test("is configured, and answers with its port", async () => {
    const { first, latest, started } = opened()

    latest().say({ kind: "listening", port: 8003 })

    expect(await first).toEqual({ ok: true, value: 8003 })
    expect(latest().kinds()).toEqual(["configure"])
    expect(started).toEqual([1000])
  })

  test("answers nobody before it is told to, in an upgrade; then every one does", async () => {
    const { clock, gateway, latest } = opened("when told")
    expect(latest().sent[0]).toMatchObject({ kind: "configure", admits: false })

    gateway.admit()
    expect(latest().kinds()).toContain("admit")
    await latest().die()
    clock.advance(0)

    expect(latest().sent[0]).toMatchObject({ kind: "configure", admits: true })
  })

  for (const code of ["EMFILE", "ENFILE", "ENOMEM", "EAGAIN"]) {
    test(`gets told what is short where that is all that was wrong: ${code}`, async () => {
      const { latest, keeper } = opened()
      keeper.remove = () => Promise.reject(Object.assign(new Error(code), { code }))

      const origin = { principal: "local", address: "unix", via: "http" }
      const params = { origin, executionId: "a".repeat(26) }
      latest().say({ kind: "request", id: 1, method: "remove", params })
      await settled()

      expect(latest().sent.at(-1)).toMatchObject({
        kind: "refusal",
        failure: { reason: "AT_CAPACITY", details: { errno: code, retry_after: 1 } },
      })
    })
  }

  test("that cannot listen says why", async () => {
    const { first, latest } = opened()

    latest().say({ kind: "cannot-listen", code: "EADDRINUSE", message: "taken" })

    expect(await first).toMatchObject({ ok: false, failure: { code: "EADDRINUSE" } })
  })

  test("that dies before it listens is told as such", async () => {
    const { first, latest } = opened()

    await latest().die("exit code 1")

    expect(await first).toMatchObject({ ok: false, failure: { code: "EGATEWAY" } })
  })

  test("is started again at once, on the port that it had", async () => {
    const { clock, gateways, latest, started } = opened()
    latest().say({ kind: "listening", port: 40_123 })

    await latest().die()
    clock.advance(0)

    expect(gateways).toHaveLength(2)
    expect(latest().sent[0]).toMatchObject({ settings: { listen: { port: 40_123 } } })
    expect(started).toEqual([1000, null, 1001])
  })

  test("that cannot be started for want of processes is tried again until it is", async () => {
    const { clock, log, gateways, latest, machine } = opened()
    machine.isShort = true
    await latest().die()
    clock.advance(500)
    expect(gateways).toHaveLength(1)
    expect(log.events).toContain("gateway could not be started")

    machine.isShort = false
    clock.advance(60_000)

    expect(gateways).toHaveLength(2)
    expect(latest().kinds()).toContain("configure")
  })

  test("is started five times at once in a minute, then ever more slowly", async () => {
    const { clock, gateways, latest } = opened()
    for (let restart = 1; restart <= 5; restart++) {
      await latest().die()
      clock.advance(0)
      expect(gateways).toHaveLength(restart + 1)
    }

    for (const delayMs of [500, 1000, 2000, 4000, 8000, 16_000]) {
      await latest().die()
      const before = gateways.length
      clock.advance(delayMs - 1)
      expect(gateways).toHaveLength(before)
      clock.advance(1)
      expect(gateways).toHaveLength(before + 1)
    }
  })

  test("never waits for more than half a minute, and is forgiven after a good one", async () => {
    const { clock, gateways, latest } = opened()
    // A minute's window forgets the oldest restarts while delays grow: die faster than that.
    for (let restart = 0; restart < 12; restart++) {
      await latest().die()
      clock.advance(30_000)
      expect(gateways).toHaveLength(restart + 2)
    }

    latest().say({ kind: "listening", port: 1 })
    clock.advance(60_000)
    latest().say({ kind: "pong", connections: 0 })
    await latest().die()
    clock.advance(0)

    expect(gateways).toHaveLength(14)
  })

  test("that has fallen silent is ended after ten seconds, and one that answers is not", () => {
    const { clock, log, latest } = opened()
    for (let seconds = 0; seconds < 60; seconds += 2) {
      clock.advance(2000)
      latest().say({ kind: "pong", connections: 3 })
    }
    expect(latest().kills).toEqual([])

    clock.advance(10_000)
    expect(latest().kills).toEqual([])
    clock.advance(2000)

    expect(latest().kills).toEqual(["SIGKILL"])
    expect(log.events).toContain("gateway hangs; killing it")
  })

  test("that has not said a word yet has a minute to begin", () => {
    const { clock, latest } = opened()

    clock.advance(61_000)
    expect(latest().kills).toEqual([])
    clock.advance(2000)
    expect(latest().kills).toEqual(["SIGKILL"])
  })

  test("has no connections any more when it is gone", async () => {
    const { gateway, latest } = opened()
    latest().say({ kind: "pong", connections: 7 })
    expect(gateway.connections).toBe(7)

    await latest().die()

    expect(gateway.connections).toBe(0)
  })

  test("is told to drain, also one that comes later", async () => {
    const { clock, gateway, latest } = opened()

    gateway.drain()
    expect(latest().sent.at(-1)).toEqual({ kind: "ping", draining: true })
    await latest().die()
    clock.advance(0)
    clock.advance(2000)

    expect(latest().sent.at(-1)).toEqual({ kind: "ping", draining: true })
  })

  test("is ended for good: politely, then not", async () => {
    const { clock, gateway, gateways, latest } = opened()

    const closed = gateway.close()
    await settled()
    expect(latest().kills).toEqual(["SIGTERM"])
    clock.advance(2000)
    expect(latest().kills).toEqual(["SIGTERM", "SIGKILL"])
    await latest().die()
    await closed
    clock.advance(60_000)

    expect(gateways).toHaveLength(1)
  })

  test("gets an answer to what it asks, and a refusal to what nobody knows", async () => {
    const { latest } = opened()

    latest().say({ kind: "request", id: 1, method: "live", params: {} })
    latest().say({ kind: "request", id: 2, method: "nonsense", params: {} })
    latest().say({ kind: "request", id: 3, method: "find", params: { executionId: 7 } })
    await settled()

    expect(latest().sent.slice(1)).toMatchObject([
      { kind: "answer", id: 1, result: { records: [] } },
      { kind: "refusal", id: 2, failure: { reason: "INTERNAL" } },
      { kind: "refusal", id: 3, failure: { reason: "INTERNAL" } },
    ])
  })

  test("is not heard any more once another has taken its place", async () => {
    const { clock, gateway, gateways, latest } = opened()
    await latest().die()
    clock.advance(0)

    gateways[0]?.say({ kind: "pong", connections: 9 })

    expect(gateway.connections).toBe(0)
  })
})
