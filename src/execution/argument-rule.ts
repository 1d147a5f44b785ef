export type ArgumentRule = {
  /** The arguments begin with the words of one of these; null is whatever they are. */
  begin: readonly (readonly string[])[] | null
  /** Words that no argument may be; one that ends in `*` stands for all that begin so. */
  never: readonly string[]
}

export const anyArguments: ArgumentRule = { begin: null, never: [] }

/** Why these arguments are refused; null when they are not. */
export function refusedArgument(rule: ArgumentRule, args: readonly string[]): string | null {
  const { begin, never } = rule
  if (begin !== null && !begin.some((words) => words.every((word, at) => args[at] === word))) {
    const allowed = begin.map((words) => `\`${words.join(" ")}\``).join(", ")
    return `its arguments must begin with ${allowed}`
  }
  for (const argument of args) {
    const pattern = never.find((word) => matchesName(word, argument))
    if (pattern !== undefined) return `its arguments must not contain \`${pattern}\``
  }
  return null
}

/** Whether a text is the one written, or begins as one that ends in `*` does. */
export function matchesName(pattern: string, text: string): boolean {
  return pattern.endsWith("*") ? text.startsWith(pattern.slice(0, -1)) : text === pattern
}

/** `status, log, "remote -v"`: what stands between commas, in words; quotes keep commas. */
export function readBeginnings(text: string): string[][] | null {
  const entry = /\s*(?:"([^"]*)"|'([^']*)'|([^,"']+))\s*(,|$)/y
  const beginnings: string[][] = []
  while (entry.lastIndex < text.length) {
    const match = entry.exec(text)
    const words = match === null ? [] : wordsOf(match[1] ?? match[2] ?? match[3] ?? "")
    if (match === null || words.length === 0) return null
    beginnings.push(words)
  }
  return beginnings.length === 0 || text.trimEnd().endsWith(",") ? null : beginnings
}

export function wordsOf(text: string): string[] {
  return text.split(" ").filter((word) => word !== "")
}
