import { createPrivateKey, type KeyObject, sign, verify, X509Certificate } from "node:crypto"
import { type LossNotice, lossNoticeType, type SignedLossNotice } from "../execution/placement.ts"
import { type SignedReceipt, signedBytes } from "../execution/receipt.ts"
import { keyIdOf, readPublicKey } from "../lib/public-key.ts"
import type { NodeKey } from "./entries.ts"

/** What a node states with the key of its certificate, for others to check. */
export class NodeSigner {
  readonly #node: string
  readonly #certificate: X509Certificate
  readonly #key: KeyObject

  constructor(node: string, certificatePem: string, keyPem: string) {
    this.#node = node
    this.#certificate = new X509Certificate(certificatePem)
    this.#key = createPrivateKey(keyPem)
  }

  /** Why it cannot speak for the node; null when it can. */
  problem(authorities: readonly X509Certificate[]): string | null {
    const { subject } = this.#certificate
    if (!namesNode(this.#certificate, this.#node)) {
      return `the certificate is for ${oneLine(subject)}, and not for the node ${this.#node}`
    }
    if (!this.#certificate.checkPrivateKey(this.#key)) return "the key is not the certificate's"
    if (!isIssued(this.#certificate, authorities)) {
      return "the certificate is not from the authority of --fleet-ca, or has expired"
    }
    return null
  }

  signLoss(notice: LossNotice): SignedLossNotice {
    const payload = Buffer.from(JSON.stringify(notice))
    const sig = this.#sign(signedBytes(lossNoticeType, payload))
    return {
      payloadType: lossNoticeType,
      payload: payload.toString("base64"),
      signatures: [{ keyid: keyIdOf(this.#certificate.publicKey), sig }],
      certificate: this.#certificate.toString(),
    }
  }

  /** Says whose receipts a key signs. */
  vouch(receiptKey: string): NodeKey {
    const signature = this.#sign(voucherBytes(this.#node, receiptKey))
    return { receiptKey, certificate: this.#certificate.toString(), signature }
  }

  #sign(bytes: Uint8Array): string {
    return sign(algorithmOf(this.#key), bytes, this.#key).toString("base64")
  }
}

/** The certificates of a bundle. */
export function certificatesIn(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return blocks.map((block) => new X509Certificate(block))
}

/** Whether it is the node itself that says whose key this is. */
export function isVouchedFor(
  node: string,
  { receiptKey, certificate, signature }: NodeKey,
  authorities: readonly X509Certificate[],
): boolean {
  return hasSigned(node, certificate, voucherBytes(node, receiptKey), signature, authorities)
}

/** Whether a receipt is signed by the key that a node has for its receipts. */
export function isSignedBy({ receiptKey }: NodeKey, receipt: SignedReceipt): boolean {
  const bytes = signedBytes(receipt.payloadType, Buffer.from(receipt.payload, "base64"))
  const key = readPublicKey(receiptKey)
  if (key === null) return false
  return receipt.signatures.some(({ sig }) => verify(null, bytes, key, Buffer.from(sig, "base64")))
}

/** Whether the node that a notice names has declared it. */
export function isDeclaredBy(
  node: string,
  { payloadType, payload, signatures, certificate }: SignedLossNotice,
  authorities: readonly X509Certificate[],
): boolean {
  const bytes = signedBytes(payloadType, Buffer.from(payload, "base64"))
  return signatures.some(({ sig }) => hasSigned(node, certificate, bytes, sig, authorities))
}

function hasSigned(
  node: string,
  certificatePem: string,
  bytes: Uint8Array,
  signature: string,
  authorities: readonly X509Certificate[],
): boolean {
  const certificate = certificateIn(certificatePem)
  if (certificate === null) return false
  if (!namesNode(certificate, node) || !isIssued(certificate, authorities)) return false
  const { publicKey } = certificate
  return verify(algorithmOf(publicKey), bytes, publicKey, Buffer.from(signature, "base64"))
}

/** Null for what is none: other nodes may write what they like. */
function certificateIn(pem: string): X509Certificate | null {
  try {
    return certificatesIn(pem)[0] ?? null
  } catch {
    return null
  }
}

function voucherBytes(node: string, receiptKey: string): Uint8Array {
  const text = JSON.stringify({ node, receiptKey })
  return signedBytes("application/vnd.cc-executor.node-key+json", Buffer.from(text))
}

/** Its common name, or one of the names it is for. */
function namesNode(certificate: X509Certificate, node: string): boolean {
  const names = /(?:^|\n)CN=([^\n]+)/.exec(certificate.subject)?.[1]
  if (names === node) return true
  const alternatives = certificate.subjectAltName?.split(", ") ?? []
  return alternatives.includes(`DNS:${node}`)
}

function isIssued(certificate: X509Certificate, authorities: readonly X509Certificate[]): boolean {
  const now = Date.now()
  if (Date.parse(certificate.validFrom) > now || Date.parse(certificate.validTo) < now) return false
  return authorities.some(
    (authority) => certificate.checkIssued(authority) && certificate.verify(authority.publicKey),
  )
}

/** Ed25519 hashes by itself, and says so by having no algorithm. */
function algorithmOf({ asymmetricKeyType }: KeyObject): "sha256" | null {
  return asymmetricKeyType === "ed25519" || asymmetricKeyType === "ed448" ? null : "sha256"
}

function oneLine(subject: string): string {
  return subject.replaceAll("\n", ", ")
}
