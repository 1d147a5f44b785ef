/** Of a file, read in pieces. */
export async function sha256(path: string): Promise<string> {
  const hash = new Bun.CryptoHasher("sha256")
  for await (const piece of Bun.file(path).stream()) hash.update(piece)
  return hash.digest("hex")
}
