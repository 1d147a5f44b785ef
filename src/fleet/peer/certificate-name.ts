import type { PeerCertificate } from "node:tls"
import { subjectName } from "../../service/gateway/listen/subject-name.ts"

type Named = Pick<PeerCertificate, "subject" | "subjectaltname">

/** The node that a certificate is for: its common name, or the DNS name where it has none. */
export function nameIn({ subject, subjectaltname }: Partial<Named>): string | null {
  const name = subject === undefined ? null : subjectName({ ...subject })
  return name ?? dnsNames(subjectaltname)[0] ?? null
}

export function isCertificateOf(name: string, certificate: Partial<Named>): boolean {
  return nameIn(certificate) === name
}

function dnsNames(names = ""): string[] {
  return names.split(", ").flatMap((one) => (one.startsWith("DNS:") ? [one.slice(4)] : []))
}
