/**
 * The same work several times at once. When one fails, the others are told to end, and have done so
 * before anybody learns why.
 */
export async function atOnce(
  workers: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const failed = new AbortController()
  const either = AbortSignal.any([signal, failed.signal])
  const all = Array.from({ length: workers }, () => work(either))
  for (const one of all) one.catch(() => failed.abort())
  const ended = await Promise.allSettled(all)
  const broken = ended.find((one) => one.status === "rejected")
  if (broken !== undefined) throw broken.reason
}
