import { fail, ok, type Result } from "../lib/result.ts"

export type CommandForm = { kind: "words"; words: string[] } | { kind: "shell"; because: string }

export type WordsFailure = { kind: "unterminated"; quote: "'" | '"' | "\\" } | { kind: "empty" }

/**
 * Decides how a command line is run. One without shell syntax is split into words, with quotes and
 * backslash as in POSIX, and is executed directly; anything a shell would treat as more than a word
 * needs the shell.
 */
export function readCommand(command: string): Result<CommandForm, WordsFailure> {
  const words: string[] = []
  let word: string | null = null
  let at = 0

  while (at < command.length) {
    const character = command.charAt(at)
    if (character === " " || character === "\t") {
      if (word !== null) words.push(word)
      word = null
      at += 1
    } else if (character === "'") {
      const end = command.indexOf("'", at + 1)
      if (end < 0) return fail({ kind: "unterminated", quote: "'" })
      word = (word ?? "") + command.slice(at + 1, end)
      at = end + 1
    } else if (character === '"') {
      const quoted = readDoubleQuoted(command, at + 1)
      if (quoted.kind === "shell") return ok({ kind: "shell", because: quoted.because })
      if (quoted.kind === "unterminated") return fail({ kind: "unterminated", quote: '"' })
      word = (word ?? "") + quoted.text
      at = quoted.end
    } else if (character === "\\") {
      if (at + 1 >= command.length) return fail({ kind: "unterminated", quote: "\\" })
      if (command.charAt(at + 1) === "\n") return ok({ kind: "shell", because: "a newline" })
      word = (word ?? "") + command.charAt(at + 1)
      at += 2
    } else {
      const because = shellSyntax(character, word, words.length)
      if (because !== null) return ok({ kind: "shell", because })
      word = (word ?? "") + character
      at += 1
    }
  }

  if (word !== null) words.push(word)
  if (words.length === 0) return fail({ kind: "empty" })
  return ok({ kind: "words", words })
}

type DoubleQuoted =
  | { kind: "text"; text: string; end: number }
  | { kind: "shell"; because: string }
  | { kind: "unterminated" }

function readDoubleQuoted(command: string, start: number): DoubleQuoted {
  let text = ""
  let at = start
  while (at < command.length) {
    const character = command.charAt(at)
    if (character === '"') return { kind: "text", text, end: at + 1 }
    // Inside double quotes the shell still expands these two.
    if (character === "$" || character === "`") return { kind: "shell", because: character }
    if (character === "\\") {
      const next = command.charAt(at + 1)
      if (next === "\n") return { kind: "shell", because: "a newline" }
      text += next === '"' || next === "\\" || next === "$" || next === "`" ? next : `\\${next}`
      at += 2
    } else {
      text += character
      at += 1
    }
  }
  return { kind: "unterminated" }
}

const operators = new Set("|&;<>()$`*?[{\n\r")

function shellSyntax(character: string, word: string | null, wordsBefore: number): string | null {
  if (operators.has(character)) {
    return character === "\n" || character === "\r" ? "a newline" : character
  }
  if (word === null && (character === "~" || character === "#")) return character
  const assigns = character === "=" && wordsBefore === 0 && word !== null
  if (assigns && /^[A-Za-z_][A-Za-z0-9_]*$/.test(word)) return `${word}=`
  return null
}
