/** How many bytes at the end begin a character that needs more than is there. */
export function unfinishedLength(bytes: Uint8Array): number {
  const { length } = bytes
  for (let back = 1; back <= Math.min(3, length); back++) {
    const byte = bytes[length - back] ?? 0
    if (byte < 0x80) return 0
    if (byte >= 0xc0) return charLength(byte) > back ? back : 0
  }
  return 0
}

/** The length a lead byte announces; 0 for one that begins nothing. */
function charLength(lead: number): number {
  if (lead >= 0xc2 && lead <= 0xdf) return 2
  if (lead >= 0xe0 && lead <= 0xef) return 3
  if (lead >= 0xf0 && lead <= 0xf4) return 4
  return 0
}
