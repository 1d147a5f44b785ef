export type SilenceWatch = {
  silenceMs: number
  answerMs: number
  heardAtMs: () => number
  probe: () => void
  gone: () => void
}

/**
 * How often we look for an answer before its time is over. After this process was held up (a busy
 * machine, a laptop that slept), one overdue timer fires before the answer that has long arrived is
 * read, but not this many.
 */
const looks = 10

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
    timer = setTimeout(look, watch.answerMs / looks, probedAtMs, looks - 1)
    watch.probe()
  }

  function look(probedAtMs: number, left: number): void {
    if (watch.heardAtMs() > probedAtMs) timer = setTimeout(check, watch.silenceMs)
    else if (left === 0) watch.gone()
    else timer = setTimeout(look, watch.answerMs / looks, probedAtMs, left - 1)
  }

  return { [Symbol.dispose]: () => clearTimeout(timer) }
}
