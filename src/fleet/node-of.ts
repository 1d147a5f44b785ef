import type { ExecutionId } from "../execution/id.ts"
import type { Table } from "./engine-port.ts"
import type { PlacementEntry } from "./entries.ts"
import type { Placements } from "./placements.ts"

/** Where something is that its node has not told of yet; null when nobody knows. */
export async function nodeOf(
  id: ExecutionId,
  placements: Placements,
  table: Pick<Table<PlacementEntry>, "get">,
): Promise<string | null> {
  const known = placements.live(id)?.value ?? placements.lost(id)
  if (known !== null) return known.node
  const found = await table.get(id)
  const entry = found.ok ? (found.value?.value ?? null) : null
  return entry === null || entry.state === "refused" ? null : entry.node
}
