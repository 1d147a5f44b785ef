import { scopeList } from "./scope-list.ts"
import { setting } from "./setting.ts"
import { absolutePath, orNone } from "./text-form.ts"

/** Settings of wss:// and of client certificates; `tls-problems.ts` says what belongs together. */
export const tlsSettings = {
  tlsCert: setting(orNone(absolutePath()), {
    group: "Listening",
    flag: "tls-cert",
    defaultText: "none",
    example: "/etc/cc-executor/cert.pem",
    description: "The service's certificate, then its intermediates (PEM): clients use wss://.",
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
    description: "Authorities (PEM); every client must have a certificate of one of them.",
  }),
  clientCertScopes: setting(scopeList(), {
    group: "Listening",
    flag: "client-cert-scopes",
    defaultText: "execute,control,read",
    example: "read",
    description: "What holders of such a client certificate may do.",
  }),
}
