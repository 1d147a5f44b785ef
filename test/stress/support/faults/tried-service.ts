import { existsSync } from "node:fs"
import type { ContainmentMode, ProcessIdentity } from "../../../../src/execution/record.ts"
import { memoryOf } from "../../../support/memory-of.ts"
import { identify, isStillThere } from "../../../support/real-processes.ts"
import { Service } from "../../../support/service.ts"
import { SmallDisk } from "../../../support/small-disk.ts"
import { temporaryFolder } from "../../../support/temporary-folder.ts"
import { until } from "../../../support/until.ts"
import type { Fault, FaultPlan } from "./fault-plan.ts"
import type { Observations } from "./observations.ts"
import { UnreliableNetwork } from "./unreliable-network.ts"
import { WallClock } from "./wall-clock.ts"

const diskSize = "96m"
const shortTimes = { grace: "300ms", linger: "300ms" }
const smallDisk = { "disk-floor": "0", ballast: "256k" }
// By the wall clock, as they must be: it may jump by days, and nothing shall be forgotten for that.
const longMemory = { "retain-age": "60d", "retain-keys": "60d" }

const settings = { ...shortTimes, ...smallDisk, ...longMemory }

/** A service on one state directory and one port, through as many lives as its faults give it. */
export class TriedService implements AsyncDisposable {
  readonly network: UnreliableNetwork
  /** The most memory that any of its processes was seen to have taken, in MiB. */
  readonly peakMb = { keeper: 0, gateway: 0 }
  /** Lines of every log that tell of something that must not happen. */
  readonly complaints: string[] = []
  /** How many keepers there have been. */
  generation = 1
  /** Processes found in the end that should have been gone. */
  orphans = 0
  wasDiskFull = false
  isDiskFull = false
  readonly #owned: DisposableStack
  readonly #observed: Observations
  readonly #clock: WallClock | null
  readonly #disk: SmallDisk | null
  readonly #start: () => Promise<Service>
  #service: Service

  private constructor(parts: {
    owned: DisposableStack
    observed: Observations
    network: UnreliableNetwork
    clock: WallClock | null
    disk: SmallDisk | null
    start: () => Promise<Service>
    service: Service
  }) {
    this.#owned = parts.owned
    this.#observed = parts.observed
    this.network = parts.network
    this.#clock = parts.clock
    this.#disk = parts.disk
    this.#start = parts.start
    this.#service = parts.service
  }

  static async start(
    plan: FaultPlan,
    containment: ContainmentMode,
    observed: Observations,
  ): Promise<TriedService> {
    const has = (kind: Fault["kind"]) => plan.faults.some((fault) => fault.kind === kind)
    using stack = new DisposableStack()
    const folder = stack.use(temporaryFolder()).path
    const disk = has("fill-disk") ? stack.use(new SmallDisk(diskSize)) : null
    const clock = has("jump-clock") ? new WallClock(folder) : null
    const port = freePort()
    const start = () =>
      Service.start({
        stateDir: disk?.path ?? `${folder}/state`,
        env: clock?.env ?? {},
        flags: { containment, port: `${port}`, "max-executions": "12", ...settings },
      })
    const service = await start()
    const network = stack.use(await UnreliableNetwork.before(port))
    const owned = stack.move()
    return new TriedService({ owned, observed, network, clock, disk, start, service })
  }

  get service(): Service {
    return this.#service
  }

  /** Carries out a fault, to its end. */
  async suffer(fault: Fault): Promise<void> {
    this.#observed.happened(`FAULT ${JSON.stringify(fault)}`)
    switch (fault.kind) {
      case "kill-gateway":
        return this.#signalGateway("SIGKILL")
      case "stop-gateway":
        return this.#stop(this.#gateway(), fault.ms)
      case "stop-keeper":
        return this.#stop(identify(this.#service.pid), fault.ms)
      case "kill-keeper":
        return this.#killKeeper(fault.restart === "when its gateway is gone", false)
      case "kill-both":
        return this.#killKeeper(false, true)
      case "cut-sockets":
        return this.network.cutAfter(fault.afterBytes)
      case "silence":
        this.network.goSilent()
        await Bun.sleep(fault.ms)
        return this.network.speak(fault.end)
      case "fill-disk":
        return this.#fillDisk(fault.ms)
      case "jump-clock":
        this.#clock?.jump(fault.seconds)
    }
  }

  /** What the processes that are there now have taken at most. */
  measure(): void {
    const { keeper, gateway } = this.peakMb
    this.peakMb.keeper = Math.max(keeper, peakOf(this.#service.pid))
    this.peakMb.gateway = Math.max(gateway, peakOf(this.#gateway()?.pid))
  }

  /** Ends it as its user would; answers the exit code. */
  async end(): Promise<number> {
    this.measure()
    this.#service.kill("SIGTERM")
    const exitCode = await this.#service.exited
    this.#readLog()
    return exitCode
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#service[Symbol.asyncDispose]()
    this.#owned.dispose()
  }

  #gateway(): ProcessIdentity | null {
    try {
      return identify(this.#service.gatewayPid)
    } catch {
      return null // it is being started at this moment
    }
  }

  #signalGateway(signal: NodeJS.Signals): void {
    this.measure()
    const gateway = this.#gateway()
    if (gateway !== null) process.kill(gateway.pid, signal)
  }

  async #stop(one: ProcessIdentity | null, ms: number): Promise<void> {
    if (one === null) return
    process.kill(one.pid, "SIGSTOP")
    await Bun.sleep(ms)
    this.#observed.happened(`the stopped process ${one.pid} may go on`)
    if (isStillThere(one)) process.kill(one.pid, "SIGCONT")
  }

  async #killKeeper(waitsForGateway: boolean, withGateway: boolean): Promise<void> {
    this.measure()
    const gateway = this.#gateway()
    // A stopped gateway cannot end anything before it is killed, too.
    if (withGateway && gateway !== null) process.kill(gateway.pid, "SIGSTOP")
    this.#service.kill("SIGKILL")
    if (withGateway && gateway !== null) process.kill(gateway.pid, "SIGKILL")
    await this.#service.exited
    this.#readLog()
    this.generation += 1
    if (waitsForGateway && gateway !== null) {
      await until("the gateway is gone", () => !existsSync(`/proc/${gateway.pid}`), 30_000)
    }
    this.#service = await until("the service can be started again", () => this.#tryToStart())
    this.#observed.happened("the service is back")
  }

  async #tryToStart(): Promise<Service | null> {
    const wasDiskFull = this.isDiskFull
    return this.#start().catch((error: unknown) => {
      this.#observed.happened(String(error))
      if (wasDiskFull && /is full/.test(String(error))) return null
      throw error
    })
  }

  async #fillDisk(ms: number): Promise<void> {
    this.wasDiskFull = true
    this.isDiskFull = true
    this.#disk?.fill()
    await Bun.sleep(ms)
    this.#disk?.empty()
    this.isDiskFull = false
    this.#observed.happened("the disk has room again")
  }

  #readLog(): void {
    for (const line of this.#service.log) if (isComplaint(line)) this.complaints.push(line)
  }
}

const expected = [
  "gateway hangs; killing it", // it was stopped
  "keeper gone: ending its executions",
  "disk full: an event could not be journaled", // the state it leads to is, or the end
  "waiting to journal an end",
  "audit lines cannot be written", // nor anything else; how many it were is told afterwards
]

function isComplaint(line: string): boolean {
  const isError = /"level":"?(50|60|error|fatal)"?/.test(line)
  return isError && !expected.some((text) => line.includes(text))
}

function peakOf(pid: number | undefined): number {
  try {
    const peakMb = pid === undefined ? 0 : memoryOf(pid).peakMb
    return Number.isNaN(peakMb) ? 0 : peakMb // a zombie has none
  } catch {
    return 0 // it has just ended
  }
}

/** Below those that the kernel gives out: nobody takes it while the service is down. */
function freePort(): number {
  const first = 10_000
  for (let tries = 0; tries < 100; tries += 1) {
    const port = first + Math.floor(Math.random() * 20_000)
    try {
      Bun.listen({ hostname: "127.0.0.1", port, socket: { data: () => undefined } }).stop(true)
      return port
    } catch {
      // taken: the next one
    }
  }
  throw new Error("no port is free")
}
