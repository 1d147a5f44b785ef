import { createHash } from "node:crypto"

/** As TLS gives it: the subject's attributes in their order, an array where one is repeated. */
export type CertificateSubject = Readonly<Record<string, string | readonly string[] | undefined>>

const mostLength = 200
const digestLength = 16

/**
 * What the holder of a client certificate is called: its common name where that is a plain one,
 * else the whole subject. No other kind of subject can take a plain name, which has no `=`; what
 * could be taken for the syntax of a subject is escaped, and what was cut off is told apart by a
 * digest. Null for a certificate that names nobody.
 */
export function subjectName(subject: CertificateSubject): string | null {
  const commonName = subject["CN"]
  if (typeof commonName === "string" && isPlain(commonName)) return commonName
  const parts = Object.entries(subject).flatMap(([attribute, value]) =>
    [value ?? []].flat().map((one) => `${escaped(attribute)}=${escaped(one)}`),
  )
  return parts.length === 0 ? null : bounded(parts.join(","))
}

/** No space at either end: nobody would see it. */
function isPlain(name: string): boolean {
  return name.length <= 64 && /^[\w.@-](?:[\w.@ -]*[\w.@-])?$/.test(name)
}

/** Names end up in logs and on terminals: only what can be seen there as it is. */
function escaped(text: string): string {
  return text.replaceAll(/[^\w.@ :/*()'-]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0
    return `\\${code.toString(16)};`
  })
}

function bounded(name: string): string {
  if (name.length <= mostLength) return name
  const digest = createHash("sha256").update(name).digest("hex").slice(0, digestLength)
  return `${name.slice(0, mostLength - digestLength - 1)}~${digest}`
}
