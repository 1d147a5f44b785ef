import { isLoopbackAddress } from "../../lib/tcp-ends.ts"

export type Exposure = {
  /** Empty where only the unix socket is listened on. */
  hosts: readonly string[]
  hasTokens: boolean
  asksForCertificates: boolean
  speaksTls: boolean
}

/** Why a service must not start: nobody could get in, or nothing would keep strangers out. */
export function openNetworkProblem(exposure: Exposure): string | null {
  const open = openHosts(exposure)
  if (open.length === 0 || exposure.hasTokens || exposure.asksForCertificates) return null
  return (
    `${open.join(", ")} can be reached from other machines, but clients there could not ` +
    "authenticate. Create a token (cc-executor token create --name NAME), let the service make " +
    "one (--make-token), name a file of tokens (--accept-token-file FILE), or require client " +
    "certificates (--tls-client-ca FILE). To be reached from this machine only, leave out --host."
  )
}

/** What an operator should know who sends tokens where others may listen. */
export function clearTextWarning(exposure: Exposure): string | null {
  const open = openHosts(exposure)
  if (open.length === 0 || exposure.speaksTls) return null
  return (
    `On ${open.join(", ")} tokens, commands and output travel in clear text, and anyone on ` +
    "the network path can read them. Add --tls-cert and --tls-key."
  )
}

function openHosts({ hosts }: Exposure): string[] {
  return hosts.filter((host) => !isLoopbackAddress(host))
}
