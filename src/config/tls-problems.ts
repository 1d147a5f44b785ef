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
      incomplete("--tls-cert", "there is no key: add --tls-key with the key it was made with"),
    )
  }
  if (tlsKey !== null && tlsCert === null) {
    problems.push(
      incomplete("--tls-key", "there is no certificate: add --tls-cert with the one it belongs to"),
    )
  }
  if (tlsClientCa !== null && tlsCert === null && tlsKey === null) {
    const why = "only TLS has client certificates: add --tls-cert and --tls-key for the service"
    problems.push(incomplete("--tls-client-ca", why))
  }
  return problems
}

function incomplete(source: string, why: string): TlsProblem {
  return { kind: "incomplete", source, message: `${source}: ${why}` }
}
