/** What the page shows, as the part of its address after `#` says it. */
export type Place =
  | { kind: "now" }
  | { kind: "start" }
  | { kind: "inbox"; question: string | null }
  | { kind: "execution"; id: string; line: number | null; part: ExecutionPart }
  | { kind: "work" }
  | { kind: "service" }
  | { kind: "unknown"; address: string }

export type ExecutionPart = "output" | "session" | "terminal" | "record"

/** Servers are never sent this part: a link tells nobody what it leads to. */
export function placeOf(hash: string): Place {
  const address = hash.replace(/^#\/?/, "")
  const [first = "", ...words] = address.split("/").map(decoded)
  switch (first) {
    case "":
      return { kind: "now" }
    case "start":
      return { kind: "start" }
    case "inbox":
      return { kind: "inbox", question: words[0] ?? null }
    case "work":
    case "service":
      return { kind: first }
    case "executions":
      return executionPlace(words) ?? { kind: "unknown", address }
    default:
      return { kind: "unknown", address }
  }
}

function executionPlace([id = "", part, line]: string[]): Place | null {
  if (id === "") return null
  if (part === undefined) return { kind: "execution", id, line: null, part: "output" }
  if (part === "line" && line !== undefined && /^\d{1,15}$/.test(line)) {
    // People count from one.
    return { kind: "execution", id, line: Math.max(0, Number(line) - 1), part: "output" }
  }
  if (part === "session" || part === "terminal" || part === "record")
    return { kind: "execution", id, line: null, part }
  return null
}

export function addressOf(place: Exclude<Place, { kind: "unknown" }>): string {
  switch (place.kind) {
    case "now":
      return "#/"
    case "start":
    case "work":
    case "service":
      return `#/${place.kind}`
    case "inbox":
      return place.question === null ? "#/inbox" : `#/inbox/${encodeURIComponent(place.question)}`
    case "execution": {
      const own = `#/executions/${encodeURIComponent(place.id)}`
      if (place.line !== null) return `${own}/line/${place.line + 1}`
      return place.part === "output" ? own : `${own}/${place.part}`
    }
  }
}

function decoded(word: string): string {
  try {
    return decodeURIComponent(word)
  } catch (error) {
    if (error instanceof URIError) return word
    throw error
  }
}
