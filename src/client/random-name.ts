// crypto.randomUUID would do, but browsers withhold it from pages that came over plain http.
export function randomName(): string {
  return crypto.getRandomValues(new Uint8Array(16)).toHex()
}
