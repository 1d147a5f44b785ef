import { type Finding, fail, ok, warn } from "./finding.ts"

const dayMs = 24 * 3_600_000
const soonMs = 14 * dayMs
const name = "certificate"
const renew = "put a new one in place of --tls-cert and --tls-key; a running service takes it"

/** Of TLS: when clients will refuse it. */
export function examineCertificate(expiresAt: Date, now: Date): Finding {
  const leftMs = expiresAt.getTime() - now.getTime()
  const day = expiresAt.toISOString().slice(0, 10)
  if (leftMs <= 0) return fail(name, `expired on ${day}: clients refuse it`, renew)
  const text = `good until ${day}, for ${Math.floor(leftMs / dayMs)} days`
  return leftMs < soonMs ? warn(name, text, renew) : ok(name, text)
}
