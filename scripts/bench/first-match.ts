/** Reads until the pattern is there; what it captured. */
export async function firstMatch(
  output: ReadableStream<Uint8Array>,
  pattern: RegExp,
): Promise<string> {
  const reader = output.getReader()
  let text = ""
  while (true) {
    const { done, value } = await reader.read()
    if (done) throw new Error(`it ended before it said ${pattern}: ${text}`)
    text += new TextDecoder().decode(value)
    const found = pattern.exec(text)?.[1]
    if (found === undefined) continue
    reader.releaseLock()
    return found
  }
}
