import type { Log } from "../../../lib/log.ts"
import {
  canonicalAddress,
  isLoopbackAddress,
  networkOf,
  type TcpEnds,
} from "../../../lib/tcp-ends.ts"
import type { ConnectionBounds } from "./connection-bounds.ts"
import { excess } from "./excess.ts"
import { type SocketSystem, WatchedConnection } from "./watched-connection.ts"

export type ConnectionWatchOptions = {
  system: SocketSystem
  bounds: Pick<ConnectionBounds, "waiting" | "unfinishedBytes">
  /** Who is really there, where somebody else carries the bytes; null for a stranger. */
  clientOf: (ends: TcpEnds) => TcpEnds | null
  /** Whose connection inside this machine it is: everybody there has the same address. */
  uidOf: (ends: TcpEnds) => number | null
  /** Connections of one owner were closed. */
  closed: (closed: ClosedConnections) => void
}

type Owner = { whose: string; address: string }

export type ClosedConnections = { address: string; count: number; why: "waiting" | "unfinished" }

const calmMs = 250
/** While somebody has too much of what is bounded. */
const pressedMs = 25
/** So long a new connection has for its first request, however many there are. */
const graceMs = 20
/** How far beyond the highest known number a new descriptor is looked for first. */
const beyond = 16

/**
 * Bounds what Bun's server accepts without telling anybody: connections before their first whole
 * request, and messages that do not come to their end. It looks a few times a second which
 * connections there are, and ends those that are too many, the oldest of whoever has most.
 */
export class ConnectionWatch implements Disposable {
  readonly #options: ConnectionWatchOptions
  readonly #ports = new Set<number>()
  readonly #byPeer = new Map<string, WatchedConnection>()
  readonly #byFd = new Map<number, WatchedConnection>()
  readonly #owners = new WeakMap<WatchedConnection, Owner>()
  #highestFd = 0
  #lastFound: WatchedConnection | null = null
  #timer: ReturnType<typeof setTimeout> | null = null

  constructor(options: ConnectionWatchOptions) {
    this.#options = options
  }

  /** Connections at this port are watched from now on. */
  watch(port: number): void {
    this.#ports.add(port)
    this.#timer ??= setTimeout(() => this.#look(), calmMs)
  }

  /** The connection from there; null when it is gone. */
  find(peer: TcpEnds["peer"]): WatchedConnection | null {
    const key = keyOf(peer)
    const known = this.#byPeer.get(key)
    if (known?.isOpen === true) return known
    this.#lastFound = this.#findNew(key) ?? this.#findAnywhere(key)
    return this.#lastFound
  }

  /**
   * A new descriptor gets the lowest free number: that of the last one, when that was closed since,
   * or one that none of the known connections has. They are not asked whether they are still there.
   */
  #findNew(key: string): WatchedConnection | null {
    if (this.#lastFound?.isOpen === false) this.#forget(this.#lastFound)
    for (let fd = 0; fd <= this.#highestFd + beyond; fd++) {
      if (this.#byFd.has(fd)) continue
      const added = this.#add(fd)
      if (added !== null && keyOf(added.socket.peer) === key) return added
    }
    return null
  }

  #findAnywhere(key: string): WatchedConnection | null {
    this.#refresh()
    return this.#byPeer.get(key) ?? null
  }

  [Symbol.dispose](): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
  }

  #look(): void {
    this.#refresh()
    const isPressed = [this.#boundWaiting(), this.#boundUnfinished()].includes(true)
    this.#timer = setTimeout(() => this.#look(), isPressed ? pressedMs : calmMs)
  }

  #refresh(): void {
    for (const connection of this.#byFd.values()) {
      if (!connection.isOpen) this.#forget(connection)
    }
    for (const fd of this.#options.system.openDescriptors()) {
      if (!this.#byFd.has(fd)) this.#add(fd)
    }
    this.#highestFd = Math.max(0, ...this.#byFd.keys())
  }

  #forget(connection: WatchedConnection): void {
    const { fd, peer } = connection.socket
    if (this.#byFd.get(fd) === connection) this.#byFd.delete(fd)
    const key = keyOf(peer)
    if (this.#byPeer.get(key) === connection) this.#byPeer.delete(key)
  }

  #add(fd: number): WatchedConnection | null {
    const { system } = this.#options
    const socket = system.acceptedSocket(fd, this.#ports)
    if (socket === null) return null
    // Of a request that has just come there is a second descriptor: see `RequestTurn`.
    const key = keyOf(socket.peer)
    const same = this.#byPeer.get(key)
    if (same?.socket.cookie === socket.cookie && same.isOpen) return null
    const connection = new WatchedConnection(socket, system)
    this.#byFd.set(fd, connection)
    this.#byPeer.set(key, connection)
    this.#highestFd = Math.max(this.#highestFd, fd)
    return connection
  }

  /** Asked of those who wait when it is looked: most connections have sent a request by then. */
  #ownerOf(connection: WatchedConnection): Owner {
    const { clientOf, uidOf } = this.#options
    const known = this.#owners.get(connection)
    if (known !== undefined) return known
    const client = clientOf(connection.socket) ?? connection.socket
    const { address } = client.peer
    const whose = isLoopbackAddress(address) ? `uid ${uidOf(client)}` : networkOf(address)
    const owner = { whose, address }
    this.#owners.set(connection, owner)
    return owner
  }

  /** Whether there are so many that they should be looked at again soon. */
  #boundWaiting(): boolean {
    const { waiting: bounds } = this.#options.bounds
    const waiting = [...this.#byFd.values()].flatMap((connection) => {
      const { isWaiting, sinceMs } = connection
      if (!isWaiting) return []
      return [{ owner: this.#ownerOf(connection).whose, sinceMs, amount: 1, connection }]
    })
    const given = excess(waiting, bounds)
    const bornMs = performance.now() - graceMs
    const isIdle = ({ sinceMs, connection }: (typeof given)[number]) =>
      sinceMs <= bornMs && !connection.isAboutToBeRead
    this.#close(given.filter(isIdle), "waiting")
    return given.length > 0
  }

  #boundUnfinished(): boolean {
    const { unfinishedBytes: bounds } = this.#options.bounds
    const unfinished = [...this.#byFd.values()].flatMap((connection) => {
      const amount = connection.unfinishedBytes()
      const { session, sinceMs } = connection
      return session !== null && amount > 0
        ? [{ owner: session.principal, sinceMs, amount, connection }]
        : []
    })
    const given = excess(unfinished, bounds)
    this.#close(given, "unfinished")
    return unfinished.reduce((sum, { amount }) => sum + amount, 0) > bounds.mostOfOne / 4
  }

  #close(given: readonly { connection: WatchedConnection }[], why: ClosedConnections["why"]): void {
    for (const { connection } of given) connection.end()
    const byAddress = Map.groupBy(given, ({ connection }) => this.#ownerOf(connection).address)
    for (const [address, { length: count }] of byAddress) {
      this.#options.closed({ address, count, why })
    }
  }
}

function keyOf({ address, port }: TcpEnds["peer"]): string {
  return `${canonicalAddress(address)} ${port}`
}

const tellEveryMs = 1000

/** Tells the log of closed connections at most once a second, with their number. */
export function closedTally(log: Log): (closed: ClosedConnections) => void {
  const counts = new Map<string, ClosedConnections>()
  let timer: ReturnType<typeof setTimeout> | null = null
  return (closed) => {
    const key = `${closed.why} ${closed.address}`
    const count = (counts.get(key)?.count ?? 0) + closed.count
    counts.set(key, { ...closed, count })
    timer ??= setTimeout(() => {
      for (const { address, count: connections, why } of counts.values()) {
        log.warn({ address, connections }, told[why])
      }
      counts.clear()
      timer = null
    }, tellEveryMs)
  }
}

const told = {
  waiting: "closed connections: too many without a request",
  unfinished: "closed sessions: too much of unfinished messages",
} as const
