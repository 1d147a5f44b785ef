import type { Output } from "../context.ts"

/**
 * Messages of a protocol pass unchanged to the program that reads them. Where a person looks on
 * instead, they are made harmless; as JSON they still mean the same.
 */
export function messageWriter(output: Output): (message: string) => Promise<void> {
  if (output.isTty) return (message) => output.write(message)
  return (message) => output.writeBytes(Buffer.from(message))
}
