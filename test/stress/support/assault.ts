import { type Chance, oneOf } from "../../support/chance.ts"
import { seededRandom } from "../../support/seeded-random.ts"
import { type Address, HostileConnection, type Manner } from "./hostile-connection.ts"
import { hostileFrames, textFrame } from "./hostile-frames.ts"
import { goodUpgrade, hostileHttp, hostileUpgrade } from "./hostile-http.ts"
import { type Asked, hostileMessage, type Targets } from "./hostile-requests.ts"

type Attack = { kind: string; parts: Uint8Array[]; manner: Manner; address: Address }

export type Finding = { what: string; attack: string; bytes: string }

export type AssaultOptions = {
  seed: number
  targets: Targets
  /** The service's addresses, TCP and unix. */
  addresses: readonly [Address, ...Address[]]
  /** What the Host header says where it does not lie. */
  host: string
}

const manners = ["at once", "at once", "at once", "slowly", "half-closed", "dropped"] as const
const patienceMs = 100
const crowd = 150
const laneCount = 8

/** Connections that send whatever nobody should, several at a time; a seed repeats the bytes. */
export class Assault {
  readonly asked: Asked = new Map()
  readonly findings: Finding[] = []
  readonly tally = new Map<string, number>()
  readonly #options: AssaultOptions

  constructor(options: AssaultOptions) {
    this.#options = options
  }

  async run(durationMs: number): Promise<void> {
    const endsAtMs = performance.now() + durationMs
    const lanes = Array.from({ length: laneCount }, async (_, lane) => {
      const chance = seededRandom(this.#options.seed * laneCount + lane)
      while (performance.now() < endsAtMs) await this.#attack(chance)
    })
    await Promise.all(lanes)
  }

  async #attack(chance: Chance): Promise<void> {
    if (chance(400) === 0) return this.#comeInCrowds(chance)
    const attack = this.#plan(chance)
    this.#count(attack.kind)
    using connection = await HostileConnection.open(attack.address)
    if (connection === null) return this.#find("nobody takes the call", attack)
    await connection.send(attack.parts, attack.manner)
    await connection.answered(patienceMs)
    const wrong = wrongIn(connection.heard)
    if (wrong !== null) this.#find(wrong, attack)
  }

  #plan(chance: Chance): Attack {
    const { targets, addresses, host } = this.#options
    const manner = oneOf(chance, manners)
    const address = oneOf(chance, addresses)
    const message = () => hostileMessage(chance, targets, this.asked)
    switch (chance(4)) {
      case 0:
        return {
          kind: "http",
          parts: [hostileHttp(chance, host, targets, this.asked)],
          manner,
          address,
        }
      case 1: {
        const parts = [hostileUpgrade(chance, host), textFrame(chance, message())]
        return { kind: "upgrade", parts, manner, address }
      }
      case 2: {
        const harmless = '{"jsonrpc":"2.0","id":1,"method":"list","params":{"limit":1}}'
        const parts = [goodUpgrade(host), ...hostileFrames(chance, harmless)]
        return { kind: "frames", parts, manner, address }
      }
      default: {
        const messages = Array.from({ length: 1 + chance(8) }, () => textFrame(chance, message()))
        return { kind: "requests", parts: [goodUpgrade(host), ...messages], manner, address }
      }
    }
  }

  /** Many at once who ask for a WebSocket, or for nothing, and are gone. */
  async #comeInCrowds(chance: Chance): Promise<void> {
    this.#count("crowds")
    const { addresses, host } = this.#options
    using open = new DisposableStack()
    await Promise.all(
      Array.from({ length: crowd }, async () => {
        const asks = chance(2) === 0
        const connection = await HostileConnection.open(oneOf(chance, addresses))
        if (connection === null) return
        open.use(connection)
        if (asks) await connection.send([goodUpgrade(host)], "at once")
      }),
    )
  }

  #count(kind: string): void {
    this.tally.set(kind, (this.tally.get(kind) ?? 0) + 1)
  }

  #find(what: string, { kind, parts, manner }: Attack): void {
    const bytes = JSON.stringify(Buffer.concat(parts).toString("latin1").slice(0, 4000))
    this.findings.push({ what, attack: `${kind}, ${manner}`, bytes })
  }
}

/** A bug that shows in what was answered; refusals are what should be there. */
function wrongIn(heard: string): string | null {
  if (heard.includes("HTTP/1.1 500")) return `a status of 500: ${heard.slice(0, 500)}`
  const at = heard.indexOf('"reason":"INTERNAL"')
  return at < 0 ? null : `an internal error: ${heard.slice(Math.max(0, at - 300), at + 100)}`
}
