/** What there is to read of an execution. */
export type ResourceKind = "state" | "transcript" | "receipt"

/** By an id, the beginning of one, or a name. */
export type ExecutionResource = { kind: ResourceKind; id: string; from: string }

const base = "cc-executor://executions/"

export const resourceTemplates = {
  state: `${base}{id}`,
  transcript: `${base}{id}/transcript{?from}`,
  receipt: `${base}{id}/receipt`,
} as const satisfies Record<ResourceKind, string>

export function resourceUri(kind: ResourceKind, id: string, from?: string): string {
  const path = kind === "state" ? "" : `/${kind}`
  const query = from === undefined ? "" : `?from=${encodeURIComponent(from)}`
  return `${base}${encodeURIComponent(id)}${path}${query}`
}

/** Null for what is no address of anything here. */
export function readResourceUri(uri: string): ExecutionResource | null {
  const url = URL.parse(uri)
  if (url === null || url.protocol !== "cc-executor:" || url.host !== "executions") return null
  const [, encoded = "", name, ...more] = url.pathname.split("/")
  const kind = kindOf(name)
  const id = decoded(encoded)
  if (kind === null || more.length > 0 || id === null || id === "") return null
  return { kind, id, from: url.searchParams.get("from") ?? "start" }
}

/** Null for what is not percent-encoded text. */
function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch (error) {
    if (error instanceof URIError) return null
    throw error
  }
}

function kindOf(name: string | undefined): ResourceKind | null {
  if (name === undefined) return "state"
  return name === "transcript" || name === "receipt" ? name : null
}
