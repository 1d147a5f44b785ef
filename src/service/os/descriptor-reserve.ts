import { closeSync, openSync, readFileSync, readlinkSync } from "node:fs"
import { isErrno } from "../../lib/errno.ts"
import type { Log } from "../../lib/log.ts"
import type { Descriptors } from "../keeper/ports.ts"
import { changeWatched, isListening, type Watched } from "./libc.ts"
import { ownDescriptors } from "./own-descriptors.ts"

/** For reading transcripts and tokens while connections have all the others. */
const reserved = 16
/** Fewer free ones, and nobody new is let in. */
const fewest = 4
/** As many must have become free before somebody is let in again. */
const enough = 8
const lookMs = 200

/**
 * Keeps connections from taking the last descriptors. Bun accepts as many as there are, and at the
 * limit it would try again and again, and keep a processor busy. So some are held; when the others
 * are used up, these are given back for everything else, and whoever connects waits in the
 * kernel's queue until there are enough again.
 */
export class DescriptorReserve implements Disposable {
  readonly #descriptors: Descriptors
  readonly #log: Log
  readonly #timer: Timer
  #held: number[] = []
  #paused: Watched[] | null = null

  constructor(descriptors: Descriptors, log: Log) {
    this.#descriptors = descriptors
    this.#log = log
    this.#hold()
    this.#timer = setInterval(() => this.look(), lookMs)
  }

  look(): void {
    const free = this.#descriptors.limit - this.#descriptors.open()
    if (this.#paused === null && free < fewest) this.#pause()
    else if (this.#paused !== null && free >= reserved + enough) this.#resume()
  }

  /** What finds no descriptor is done again with those of the reserve. */
  lend<Value>(run: () => Value): Value {
    try {
      return run()
    } catch (error) {
      if (!isErrno(error, "EMFILE", "ENFILE")) throw error
      if (this.#paused === null) this.#pause()
      return run()
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    this.#release()
  }

  #pause(): void {
    this.#release()
    const { limit } = this.#descriptors
    this.#paused = listeningSockets()
    for (const watched of this.#paused) changeWatched({ ...watched, events: 0 })
    this.#log.warn({ limit }, "file descriptors are used up: nobody new is let in")
  }

  #resume(): void {
    this.#hold()
    // One that was closed meanwhile is left alone: its number may mean something else by now.
    const isStill = ({ epollFd, fd, data }: Watched) =>
      watched.some((now) => now.epollFd === epollFd && now.fd === fd && now.data === data)
    const watched = listeningSockets()
    for (const paused of (this.#paused ?? []).filter(isStill)) changeWatched(paused)
    this.#paused = null
    this.#log.info({}, "there are file descriptors again: connections are accepted")
  }

  #hold(): void {
    try {
      while (this.#held.length < reserved) this.#held.push(openSync("/dev/null", "r"))
    } catch (error) {
      if (!isErrno(error, "EMFILE", "ENFILE")) throw error // as many as there are
    }
  }

  #release(): void {
    for (const fd of this.#held) closeSync(fd)
    this.#held = []
  }
}

/** Bun shows none of its sockets: here they are found by what its event loop waits for. */
function listeningSockets(): Watched[] {
  return ownDescriptors()
    .filter(isEventLoop)
    .flatMap(watchedBy)
    .filter(({ fd }) => isListening(fd))
}

function isEventLoop(fd: number): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`) === "anon_inode:[eventpoll]"
  } catch (error) {
    if (!isErrno(error, "ENOENT")) throw error // what the list itself was read by
    return false
  }
}

function watchedBy(epollFd: number): Watched[] {
  const lines = readFileSync(`/proc/self/fdinfo/${epollFd}`, "latin1").matchAll(
    /^tfd:\s*(\d+) events:\s*([0-9a-f]+) data:\s*([0-9a-f]+)/gm,
  )
  return Array.from(lines, ([, fd = "", events = "", data = ""]) => ({
    epollFd,
    fd: Number(fd),
    events: Number.parseInt(events, 16),
    data: BigInt(`0x${data}`),
  }))
}
