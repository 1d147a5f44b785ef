/** An execution, as far as it matters to whom it belongs. */
export type Owned = { principal: string; labels: Readonly<Record<string, string>> }

/**
 * Labels by which an owner lets others in: names of principals separated by commas, or `*`. Who is
 * let in still needs the scope for what it asks.
 */
export const shareLabels = { see: "share", steer: "share-control" } as const
