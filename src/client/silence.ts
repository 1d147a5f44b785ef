export type SilenceWatch = {
  silenceMs: number
  answerMs: number
  heardAtMs: () => number
  probe: () => void
  gone: () => void
}

/**
 * A browser's socket tells nothing of a peer that vanished without a word (a sleeping laptop, a
 * forgotten NAT entry), and a client that only listens would wait for ever. So silence is probed.
 */
export function watchSilence(watch: SilenceWatch): Disposable {
  let timer = setTimeout(check, watch.silenceMs)

  function check(): void {
    const quietMs = performance.now() - watch.heardAtMs()
    if (quietMs < watch.silenceMs) {
      timer = setTimeout(check, watch.silenceMs - quietMs)
      return
    }
    const probedAtMs = performance.now()
    timer = setTimeout(() => conclude(probedAtMs), watch.answerMs)
    watch.probe()
  }

  function conclude(probedAtMs: number): void {
    if (watch.heardAtMs() <= probedAtMs) return watch.gone()
    timer = setTimeout(check, watch.silenceMs)
  }

  return { [Symbol.dispose]: () => clearTimeout(timer) }
}
