import { createPrivateKey, X509Certificate } from "node:crypto"
import { readFileSync } from "node:fs"
import { clientVariables } from "../../config/client-variables.ts"
import { errnoOf } from "../../lib/errno.ts"
import { option } from "../arguments.ts"
import type { Environment } from "../context.ts"
import { UsageFailure } from "../failure.ts"

/** What a wss:// connection is made with besides the defaults: texts in PEM form. */
export type ClientTls = {
  ca?: string
  cert?: string
  key?: string
  /** Said where TLS is used: else a variable of Node's could say otherwise. */
  rejectUnauthorized?: true
}

export const clientTlsVariables = {
  "ca-file": clientVariables.caFile,
  "client-cert": clientVariables.clientCertFile,
  "client-key": clientVariables.clientKeyFile,
} as const

export const clientTlsOptions = {
  "ca-file": option("FILE", `authorities to trust for wss:// (default $${clientVariables.caFile})`),
  "client-cert": option(
    "FILE",
    `the client certificate (default $${clientVariables.clientCertFile})`,
  ),
  "client-key": option("FILE", `its key (default $${clientVariables.clientKeyFile})`),
}

export type ClientTlsValues = { [Name in keyof typeof clientTlsOptions]?: string | undefined }

/** Reads the files, so that what is wrong with them is said before anybody is spoken to. */
export function readClientTls(env: Environment, values: ClientTlsValues): ClientTls {
  const ca = readPem("ca-file", env, values)
  const cert = readPem("client-cert", env, values)
  const key = readPem("client-key", env, values)
  if (ca !== null) readCertificate(ca)
  if ((cert === null) !== (key === null)) {
    const [given, missing] = cert === null ? ["key", "cert"] : ["cert", "key"]
    throw new UsageFailure(`--client-${given} also needs --client-${missing}.`)
  }
  if (cert !== null && key !== null) checkPair(cert, key)
  return {
    rejectUnauthorized: true,
    ...(ca === null ? {} : { ca: ca.text }),
    ...(cert === null ? {} : { cert: cert.text }),
    ...(key === null ? {} : { key: key.text }),
  }
}

type Pem = { source: string; path: string; text: string }

function readPem(
  name: keyof ClientTlsValues,
  env: Environment,
  values: ClientTlsValues,
): Pem | null {
  const variable = clientTlsVariables[name]
  const source = values[name] === undefined ? variable : `--${name}`
  const path = values[name] ?? env[variable] ?? ""
  if (path === "") return null
  try {
    return { source, path, text: readFileSync(path, "utf8") }
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === null) throw error
    throw new UsageFailure(`${source}: ${path} cannot be read (${errno}).`)
  }
}

function checkPair(cert: Pem, key: Pem): void {
  const certificate = readCertificate(cert)
  if (certificate.checkPrivateKey(readKey(key))) return
  throw new UsageFailure(`${key.source}: ${key.path} is not the key of ${cert.path}.`)
}

function readCertificate({ source, path, text }: Pem): X509Certificate {
  try {
    return new X509Certificate(text)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    throw new UsageFailure(`${source}: ${path} contains no certificate in PEM form.`)
  }
}

function readKey({ source, path, text }: Pem) {
  try {
    return createPrivateKey(text)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    throw new UsageFailure(
      `${source}: ${path} contains no private key in PEM form, or it is encrypted.`,
    )
  }
}
