export type Holding = {
  owner: string
  /** Since when it is held. */
  sinceMs: number
  amount: number
}

export type Bounds = { most: number; mostOfOne: number }

/**
 * What has to be given up so that no owner holds more than `mostOfOne`, and all together no more
 * than `most`. Everybody keeps what is newest: what has been held for long is least likely to be
 * used soon. Where all together are too many, whoever holds most gives up first, down to one each;
 * only then does somebody lose the last.
 */
export function excess<Held extends Holding>(all: readonly Held[], bounds: Bounds): Held[] {
  if (all.length === 0) return []
  const newestFirst = all.toSorted((one, other) => other.sinceMs - one.sinceMs)
  let share = bounds.mostOfOne
  let kept = keptWithin(newestFirst, share)
  while (total(kept) > bounds.most && share > 1) {
    share = Math.floor(share / 2)
    kept = keptWithin(newestFirst, share)
  }
  const stays = new Set(newestWithin(kept, bounds.most))
  return all.filter((held) => !stays.has(held))
}

/** Of each owner as many as fit into its share, and at least one. */
function keptWithin<Held extends Holding>(newestFirst: readonly Held[], share: number): Held[] {
  const used = new Map<string, number>()
  return newestFirst.filter(({ owner, amount }) => {
    const before = used.get(owner)
    used.set(owner, (before ?? 0) + amount)
    return before === undefined || before + amount <= share
  })
}

function newestWithin<Held extends Holding>(newestFirst: readonly Held[], most: number): Held[] {
  let used = 0
  return newestFirst.filter(({ amount }) => {
    used += amount
    return used <= most
  })
}

function total(all: readonly Holding[]): number {
  return all.reduce((sum, { amount }) => sum + amount, 0)
}
