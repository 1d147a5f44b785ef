import { type ConnectionOptions, connect } from "node:tls"
import { z } from "zod"
import { errnoOf } from "../../lib/errno.ts"
import type { ClientTls } from "./client-tls.ts"

const limitMs = 3_000

/** A server says only after the handshake that it does not like the client's certificate. */
const secondThoughtsMs = 500

/**
 * Why no connection to a wss:// address comes about, as far as TLS is the reason; also for a ws://
 * address where TLS is spoken. Null when TLS has nothing to do with it.
 */
export async function tlsTrouble(address: string, tls: ClientTls): Promise<string | null> {
  const url = new URL(address)
  if (url.protocol === "wss:") return describe(await shakeHands(url, tls), url, tls)
  // Nothing is sent there, so nobody needs to be trusted.
  const outcome = await shakeHands(url, { rejectUnauthorized: false })
  const isTls =
    outcome.kind !== "failed" || /CERTIFICATE_REQUIRED|HANDSHAKE_FAIL/.test(outcome.code)
  return isTls ? `the service uses TLS: use ${address.replace(/^ws:/, "wss:")}.` : null
}

type Outcome =
  | { kind: "done" }
  /** After the handshake, before a word was said. */
  | { kind: "hung-up" }
  | { kind: "failed"; code: string; names: string }

function shakeHands(url: URL, options: ConnectionOptions): Promise<Outcome> {
  const host = url.hostname.replaceAll(/[[\]]/g, "")
  const port = url.port === "" ? 443 : Number(url.port)
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  const socket = connect({ host, port, ...options })
  let isDone = false
  const timers = [
    setTimeout(() => resolve({ kind: "failed", code: "ETIMEDOUT", names: "" }), limitMs),
  ]
  socket.on("error", (error) => {
    resolve({ kind: "failed", code: errnoOf(error) ?? "", names: namesIn(error) })
  })
  socket.once("secureConnect", () => {
    isDone = true
    timers.push(setTimeout(() => resolve({ kind: "done" }), secondThoughtsMs))
  })
  socket.once("close", () => {
    resolve(isDone ? { kind: "hung-up" } : { kind: "failed", code: "ECONNRESET", names: "" })
  })
  socket.resume()
  return promise.finally(() => {
    for (const timer of timers) clearTimeout(timer)
    socket.destroy()
  })
}

function describe(outcome: Outcome, url: URL, tls: ClientTls): string | null {
  switch (outcome.kind) {
    case "done":
      return null
    case "hung-up":
      return tls.cert === undefined ? null : certificateRefused
    case "failed":
      return describeFailure(outcome.code, outcome.names, url, tls)
  }
}

const certificateRefused =
  "it rejected the client certificate, which may have expired or be from an authority that " +
  "the service does not trust (its --tls-client-ca)."

const wantsCertificate = "it requires a client certificate: use --client-cert and --client-key."

function describeFailure(code: string, names: string, url: URL, tls: ClientTls): string | null {
  switch (code) {
    case "UNABLE_TO_VERIFY_LEAF_SIGNATURE":
    case "UNABLE_TO_GET_ISSUER_CERT":
    case "UNABLE_TO_GET_ISSUER_CERT_LOCALLY":
    case "SELF_SIGNED_CERT_IN_CHAIN":
    case "DEPTH_ZERO_SELF_SIGNED_CERT":
      return tls.ca === undefined
        ? "its certificate is from an unknown authority: name that authority's file with --ca-file."
        : "its certificate is not from an authority in the given --ca-file."
    case "ERR_TLS_CERT_ALTNAME_INVALID":
      return `its certificate is for ${names}, not for ${url.hostname}.`
    case "CERT_HAS_EXPIRED":
      return "its certificate has expired: the service needs a new one (its --tls-cert)."
    case "CERT_NOT_YET_VALID":
      return "its certificate is not valid yet: check the clocks of both machines."
    case "ERR_SSL_WRONG_VERSION_NUMBER":
      return `the service does not use TLS: use ${url.href.replace(/^wss:/, "ws:")}.`
    case "ERR_SSL_TLSV1_ALERT_CERTIFICATE_REQUIRED":
      return wantsCertificate
    case "ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE":
      return tls.cert === undefined ? wantsCertificate : certificateRefused
    default:
      if (/ALERT_.*(?:CERTIFICATE|UNKNOWN_CA)/.test(code)) return certificateRefused
      return code.startsWith("ERR_SSL") ? `the TLS handshake failed (${code}).` : null
  }
}

const NamesMissed = z.object({ cert: z.object({ subjectaltname: z.string() }) })

/** For whom the certificate is that was not for the one who was called. */
function namesIn(error: Error): string {
  return NamesMissed.safeParse(error).data?.cert.subjectaltname ?? "others"
}
