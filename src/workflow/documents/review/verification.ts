import { interpretersAndTools } from "./known-programs.ts"

/**
 * The command that a reviewer has written as a verification; null for prose. Prose is never run, so
 * what is not clearly a command is asked for as one: a text that is only a code span, or one that
 * begins with a program, and has no words of a sentence outside of quotes.
 */
export function commandIn(verification: string): string | null {
  const text = verification.trim()
  const [, , span] = /^(`+)(?!`)([^`]+)\1$/.exec(text) ?? []
  if (span !== undefined) return span.trim() === "" ? null : span.trim()
  if (text === "" || text.includes("`") || /[.!?:]$/.test(text)) return null
  const words = wordsOutsideOfQuotes(text)
  if (words.some((word) => ofSentences.has(word.toLowerCase().replace(/[,.;]$/, "")))) return null
  const [program = "", ...rest] = words.filter((word) => !isPrefix(word))
  if (!/^[a-z0-9_./[-][\w./[+-]*$/.test(program)) return null
  const isProgram = interpretersAndTools.has(program) || /[/.]\w/.test(program)
  const hasSyntax = rest.some((word) => /^--?\w/.test(word)) || /\|\||&&|[<>|]/.test(text)
  return isProgram || hasSyntax ? text : null
}

function isPrefix(word: string): boolean {
  return word === "!" || word === "(" || /^[A-Za-z_]\w*=/.test(word)
}

function wordsOutsideOfQuotes(text: string): string[] {
  return text
    .replace(/'[^']*'|"(?:[^"\\]|\\.)*"/g, "''")
    .split(/\s+/)
    .filter((word) => word !== "")
}

/** What commands hardly ever have among their words, and sentences soon do. */
const ofSentences: ReadonlySet<string> = new Set(
  (
    "the that this there should must shall will is are be been was were when where which whether " +
    "and or but not no with without after before into to of it its an sure ensure verify confirm " +
    "passes pass succeeds succeed works returns appears shows still only again any every"
  ).split(" "),
)
