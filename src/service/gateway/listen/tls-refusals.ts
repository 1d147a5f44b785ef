import type { TlsRefusal } from "./tls-front.ts"
import type { TlsLog } from "./tls-rotation.ts"

const tellEveryMs = 1_000

export type RefusalTally = Disposable & { add: (refusal: TlsRefusal) => void }

/**
 * The first refusal is told at once; in the second after it they are only counted, and the count is
 * told with the last of them. Whoever knocks a thousand times a second does not fill the log.
 */
export function refusalTally(log: TlsLog): RefusalTally {
  let last: TlsRefusal | null = null
  let count = 0
  let timer: ReturnType<typeof setTimeout> | null = null

  const tell = () => {
    timer = null
    if (last === null) return
    log.warn({ ...last, count }, "tls connection refused")
    last = null
    count = 0
    timer = setTimeout(tell, tellEveryMs)
  }
  return {
    add(refusal) {
      last = refusal
      count += 1
      if (timer === null) tell()
    },
    [Symbol.dispose]() {
      if (timer !== null) clearTimeout(timer)
    },
  }
}
