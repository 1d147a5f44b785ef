import { ExecutionIdPrefix } from "../../../../execution/id.ts"

/** What there is to read of an execution. */
export type ResourceKind = "state" | "transcript" | "receipt"

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
  return `${base}${id}${path}${query}`
}

/** Null for what is no address of anything here. */
export function readResourceUri(uri: string): ExecutionResource | null {
  const url = URL.parse(uri)
  if (url === null || url.protocol !== "cc-executor:" || url.host !== "executions") return null
  const [, id = "", name, ...more] = url.pathname.split("/")
  const kind = kindOf(name)
  if (kind === null || more.length > 0 || !ExecutionIdPrefix.safeParse(id).success) return null
  return { kind, id, from: url.searchParams.get("from") ?? "start" }
}

function kindOf(name: string | undefined): ResourceKind | null {
  if (name === undefined) return "state"
  return name === "transcript" || name === "receipt" ? name : null
}
