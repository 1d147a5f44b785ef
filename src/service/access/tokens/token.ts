import { createHash, timingSafeEqual } from "node:crypto"
import { base32 } from "../../../lib/base32.ts"

/** A token's public half names it in lists and logs; only a hash of the other half is kept. */
export type Token = { id: string; secret: string }

/** Fills an array with chance: `crypto.getRandomValues`, or what a test wants. */
export type Random = (bytes: Uint8Array<ArrayBuffer>) => Uint8Array

const idLength = 10 // characters of five bits
const secretLength = 52 // 260 bits, of which 256 are chance
const checksumLength = 6

const idBytes = 7
const secretBytes = 32

const shape = /^cce_([a-z2-7]{10})_([a-z2-7]{52})([a-z2-7]{6})$/

export function newToken(random: Random): Token {
  return {
    id: base32(random(new Uint8Array(idBytes))).slice(0, idLength),
    secret: base32(random(new Uint8Array(secretBytes))).slice(0, secretLength),
  }
}

/** What its bearer gets to see, once: `cce_ID_SECRET` with a checksum at the end. */
export function tokenText(token: Token): string {
  return `cce_${token.id}_${token.secret}${checksumOf(token)}`
}

/**
 * Null for whatever is not a whole token. The checksum tells a token that lost a piece on its way
 * from one that is wrong, before anything is looked up; whoever sent it is told the same.
 */
export function readToken(text: string): Token | null {
  const [, id = "", secret = "", checksum] = shape.exec(text) ?? []
  return checksum === checksumOf({ id, secret }) ? { id, secret } : null
}

/** Whether a text was meant to be a token of this service, whole or not. */
export function looksLikeToken(text: string): boolean {
  return text.startsWith("cce_")
}

/** A fast hash will do: nobody can guess 256 random bits, as they could a password. */
export function secretHash(secret: string): string {
  return createHash("sha256").update(secret).digest("hex")
}

const nobodysHash = "0".repeat(64)

/**
 * Takes the same time whatever differs, and where there is nothing to compare with: with the hash
 * of no token, which no secret is known to have.
 */
export function isSecretOf(secret: string, hash: string | null): boolean {
  const given = Buffer.from(secretHash(secret), "hex")
  const isEqual = timingSafeEqual(given, Buffer.from(hash ?? nobodysHash, "hex"))
  return isEqual && hash !== null
}

function checksumOf({ id, secret }: Token): string {
  const digest = createHash("sha256").update(`cc-executor token ${id} ${secret}`).digest()
  return base32(digest).slice(0, checksumLength)
}
