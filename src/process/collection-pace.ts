const mebibyte = 1024 * 1024

/**
 * Has garbage collected after so many bytes of buffers and strings went through. The collector by
 * itself waits for more of them than a small process should hold: a flood of text cost 130 MB, with
 * this half of it, for a millisecond now and then. While the process is large all the same, because
 * there are many floods at once, it is collected more often: that costs a tenth of the speed.
 */
export class CollectionPace {
  readonly #everyBytes: number
  readonly #largeBytes: number
  readonly #residentBytes: () => number
  readonly #collect: () => void
  #sinceCollection = 0
  #sinceLook = 0

  constructor(
    everyBytes: number,
    largeMb: number,
    system = {
      residentBytes: () => process.memoryUsage.rss(),
      collect: () => Bun.gc(true),
    },
  ) {
    this.#everyBytes = everyBytes
    this.#largeBytes = largeMb * mebibyte
    this.#residentBytes = system.residentBytes
    this.#collect = system.collect
  }

  readonly passed = (bytes: number): void => {
    this.#sinceCollection += bytes
    this.#sinceLook += bytes
    if (this.#sinceLook < this.#everyBytes / looksPerCollection) return
    this.#sinceLook = 0
    const isDue = this.#sinceCollection >= this.#everyBytes
    if (!isDue && this.#residentBytes() < this.#largeBytes) return
    this.#sinceCollection = 0
    this.#collect()
  }
}

const looksPerCollection = 5
