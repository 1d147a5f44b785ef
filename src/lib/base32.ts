const alphabet = "abcdefghijklmnopqrstuvwxyz234567"

/** In lower case and without padding: fit for names, URLs and people. */
export function base32(bytes: Uint8Array): string {
  let text = ""
  let value = 0
  let bits = 0
  for (const byte of bytes) {
    value = (value << 8) | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += alphabet.charAt((value >>> bits) & 31)
    }
    value &= (1 << bits) - 1
  }
  return bits === 0 ? text : text + alphabet.charAt((value << (5 - bits)) & 31)
}
