import { scopeList } from "./scope-list.ts"
import { setting } from "./setting.ts"
import { absolutePath, orNone } from "./text-form.ts"

/** Settings of wss:// and of client certificates; `tlsProblems` says what belongs together. */
export const tlsSettings = {
  tlsCert: setting(orNone(absolutePath()), {
    group: "Listening",
    flag: "tls-cert",
    defaultText: "none",
    example: "/etc/cc-executor/cert.pem",
    description:
      "The service's certificate, then its intermediates (PEM); clients then use wss://.",
  }),
  tlsKey: setting(orNone(absolutePath()), {
    group: "Listening",
    flag: "tls-key",
    defaultText: "none",
    example: "/etc/cc-executor/key.pem",
    description: "The key of `--tls-cert` (PEM, not encrypted).",
  }),
  tlsClientCa: setting(orNone(absolutePath()), {
    group: "Listening",
    flag: "tls-client-ca",
    defaultText: "none",
    example: "/etc/cc-executor/clients.pem",
    description: "Authorities (PEM); every client must have a certificate from one of them.",
  }),
  clientCertScopes: setting(scopeList(), {
    group: "Listening",
    flag: "client-cert-scopes",
    defaultText: "execute,control,read",
    example: "read",
    description: "What clients with such a certificate may do.",
  }),
}

type TlsSettings = {
  tlsCert: string | null
  tlsKey: string | null
  tlsClientCa: string | null
}

type TlsProblem = { kind: "incomplete"; source: string; message: string }

/** Settings of TLS that mean nothing without each other; what the files hold is looked at later. */
export function tlsProblems(config: TlsSettings): TlsProblem[] {
  const { tlsCert, tlsKey, tlsClientCa } = config
  const problems: TlsProblem[] = []
  if (tlsCert !== null && tlsKey === null) {
    problems.push(
      incomplete("--tls-cert", "the key is missing: add --tls-key with the certificate's key"),
    )
  }
  if (tlsKey !== null && tlsCert === null) {
    problems.push(
      incomplete(
        "--tls-key",
        "the certificate is missing: add --tls-cert with the key's certificate",
      ),
    )
  }
  if (tlsClientCa !== null && tlsCert === null && tlsKey === null) {
    const why = "client certificates need TLS: add --tls-cert and --tls-key for the service"
    problems.push(incomplete("--tls-client-ca", why))
  }
  return problems
}

function incomplete(source: string, why: string): TlsProblem {
  return { kind: "incomplete", source, message: `${source}: ${why}` }
}
