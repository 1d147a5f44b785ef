import type { Message } from "./message.ts"
import { fromHeaderValue, nameIn } from "./param-headers.ts"

/**
 * Where the headers of a modern request say something else than its body; null where they agree.
 * Whoever decides by headers on the way must not be told another story than the target. A missing
 * header tells none.
 */
export function disagreement(
  message: Exclude<Message, { kind: "answer" }>,
  headers: Headers,
  version: string,
): string | null {
  const { method, params } = message
  const expected: readonly (readonly [string, string | null])[] = [
    ["mcp-protocol-version", version],
    ["mcp-method", method],
    ["mcp-name", nameIn(method, params)],
  ]
  for (const [name, value] of expected) {
    const given = headers.get(name)
    if (given === null || value === null || fromHeaderValue(given.trim()) === value) continue
    const said = `${JSON.stringify(given)}, and the message ${JSON.stringify(value)}`
    return `The header ${name} says ${said}.`
  }
  return null
}
