import { type Fields, isFields } from "./message.ts"

/** An argument of a tool that a modern target wants in a header too. */
export type ParamHeader = { name: string; path: readonly string[] }

const annotation = "x-mcp-header"
const mostDepth = 8

/** The arguments for which a tool's schema names a header. */
export function headersIn(schema: unknown, path: readonly string[] = []): ParamHeader[] {
  if (!isFields(schema) || path.length > mostDepth) return []
  const name = schema[annotation]
  const isToken = typeof name === "string" && /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name)
  const own = isToken && path.length > 0 ? [{ name, path }] : []
  const properties = isFields(schema["properties"]) ? schema["properties"] : {}
  const inner = Object.entries(properties).flatMap(([key, value]) =>
    headersIn(value, [...path, key]),
  )
  return [...own, ...inner]
}

export function paramHeaders(
  headers: readonly ParamHeader[],
  args: unknown,
): Record<string, string> {
  const found: Record<string, string> = {}
  for (const { name, path } of headers) {
    const value = valueAt(args, path)
    const isSimple = ["string", "boolean"].includes(typeof value) || Number.isSafeInteger(value)
    if (isSimple) found[`mcp-param-${name}`] = headerValue(String(value))
  }
  return found
}

function valueAt(args: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (isFields(value) && Object.hasOwn(value, key) ? value[key] : undefined),
    args,
  )
}

const marked = /^=\?base64\?.*\?=$/

/** A header's value; what a header cannot hold is encoded as MCP prescribes. */
export function headerValue(value: string): string {
  const isPlain = /^[\t\x20-\x7e]+$/.test(value) && value === value.trim() && !marked.test(value)
  return isPlain ? value : `=?base64?${Buffer.from(value, "utf8").toString("base64")}?=`
}

export function fromHeaderValue(header: string): string {
  const encoded = /^=\?base64\?(.*)\?=$/.exec(header)?.[1]
  return encoded === undefined ? header : Buffer.from(encoded, "base64").toString("utf8")
}

const nameSources: ReadonlyMap<string, string> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
  ["tasks/get", "taskId"],
  ["tasks/update", "taskId"],
  ["tasks/cancel", "taskId"],
])

/** The value of the header Mcp-Name; null for requests without one. */
export function nameIn(method: string, params: Fields): string | null {
  const field = nameSources.get(method)
  const value = field === undefined ? null : params[field]
  return typeof value === "string" ? value : null
}
