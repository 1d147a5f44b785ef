import { edenGC } from "bun:jsc"

const mebibyte = 1024 * 1024
const largeBytes = 76 * mebibyte
const tooLargeBytes = 86 * mebibyte
const buffersEveryBytes = 16 * mebibyte

/**
 * Collects garbage after so many bytes of buffers and strings were discarded. The collector by
 * itself waits for more of them than a small process should hold: a flood of text cost 130 MB, with
 * this half of it. Mostly only what is young is collected, which is cheap; all of it, with pages
 * given back to the system, the sooner the larger the process is.
 */
export class GarbageCollector {
  readonly #everyBytes: number
  readonly #memory: Memory
  #sinceYoung = 0
  #sinceAll = 0
  #sinceBuffers = 0

  constructor(everyBytes: number, memory = ownMemory) {
    this.#everyBytes = everyBytes
    this.#memory = memory
  }

  readonly reportGarbage = (bytes: number): void => {
    this.#sinceYoung += bytes
    this.#sinceAll += bytes
    if (this.#sinceYoung < this.#everyBytes / 4) return
    this.#sinceYoung = 0
    if (this.#sinceAll < this.#everyBytes * thresholdFactor(this.#memory.residentBytes())) {
      this.#memory.collectYoung()
      return
    }
    this.#sinceAll = 0
    this.#memory.collectAll()
  }

  /**
   * Of buffers that are passed on at once. The runtime collects them by itself, but lets a process
   * grow to twice of what this one should hold.
   */
  readonly reportBuffers = (bytes: number): void => {
    this.#sinceBuffers += bytes
    if (this.#sinceBuffers < buffersEveryBytes) return
    this.#sinceBuffers = 0
    if (this.#memory.residentBytes() >= tooLargeBytes) this.#memory.collectAll()
  }
}

type Memory = { residentBytes(): number; collectYoung(): void; collectAll(): void }

const ownMemory: Memory = {
  residentBytes: () => process.memoryUsage.rss(),
  collectYoung: () => void edenGC(),
  collectAll: () => Bun.gc(true),
}

function thresholdFactor(residentBytes: number): number {
  if (residentBytes < largeBytes) return 4
  return residentBytes < tooLargeBytes ? 1 : 0
}
