type Graph = {
  firsts: Uint16Array
  follows: readonly Uint16Array[]
  isLast: Uint8Array
}

/**
 * For every position, the most bytes that can lead to it since the match was last complete, or
 * began: so many must be held until it is known whether they belong to a match. Where a match can
 * stay incomplete for ever there is no such number, and a position of the cycle is named.
 */
export function undecidedBytes({
  firsts,
  follows,
  isLast,
}: Graph): { kind: "bounded"; bytes: Uint16Array } | { kind: "cycle"; position: number } {
  const bytes = new Uint16Array(follows.length)
  const waitsFor = new Uint32Array(follows.length)
  const reach = (to: number, before: number) => {
    if (isLast[to] !== 1) bytes[to] = Math.max(bytes[to] ?? 0, before + 1)
  }
  for (const first of firsts) reach(first, 0)
  for (const [from, follow] of follows.entries()) {
    for (const to of follow) {
      if (isLast[from] === 1) reach(to, 0)
      else waitsFor[to] = (waitsFor[to] ?? 0) + 1
    }
  }
  // Kahn's order: a position's number is final when those of all before it are.
  const isOpen = (at: number) => isLast[at] !== 1
  const final = [...follows.keys()].filter((at) => isOpen(at) && waitsFor[at] === 0)
  for (const from of final) {
    for (const to of follows[from] ?? []) {
      reach(to, bytes[from] ?? 0)
      waitsFor[to] = (waitsFor[to] ?? 0) - 1
      if (waitsFor[to] === 0 && isOpen(to)) final.push(to)
    }
  }
  const position = [...follows.keys()].find((at) => isOpen(at) && waitsFor[at] !== 0)
  return position === undefined ? { kind: "bounded", bytes } : { kind: "cycle", position }
}
