import { readCommand } from "./read-command.ts"

/** Of arguments and variables together; far more than a command needs, far less than it may be. */
const mostBytes = 128 * 1024

const mostNameTold = 200

/** Why a program may not be named so where an allow-list rules; null when it may. */
export function refusedName(name: string): string | null {
  if (name === "") return "the program's name is empty"
  if (!name.includes("/")) return null
  const isPlain = /^(?:\/[^/]+)+$/.test(name) && !/\/\.{1,2}(?:\/|$)/.test(name)
  if (isPlain) return null
  const how = "by a bare name, or an absolute path without `.` and `..`"
  // Whole or not at all: half a secret is none that the patterns of the audit trail find.
  const which = name.length > mostNameTold ? "the given name" : JSON.stringify(name)
  return `${which} is not a plain name: name the program ${how}`
}

/** Why a command line is not even looked at where no shell may run it; null when it is. */
export function refusedLine(line: string): string | null {
  const control = /[\p{Cc}\u2028\u2029]/u.exec(line)?.[0]
  if (control !== undefined) {
    const code = (control.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")
    return `the command line contains the control character U+${code}; ${useArgv}`
  }
  const form = readCommand(line)
  if (!form.ok || form.value.kind === "shell") return null // what it is, it says itself
  const folded = readCommand(line.normalize("NFKC"))
  if (folded.ok && folded.value.kind === "words") return null
  return `the command line contains characters that look like shell syntax; ${useArgv}`
}

const useArgv = "use `argv` for program and arguments if they really contain them"

export function refusedSize(argv: readonly string[], env: Record<string, string>): string | null {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  const bytes = [...argv, ...variables].reduce((sum, text) => sum + utf8Length(text) + 1, 0)
  if (bytes <= mostBytes) return null
  return `arguments and variables together have ${bytes} bytes; the maximum is ${mostBytes}`
}

const encoder = new TextEncoder()

function utf8Length(text: string): number {
  return encoder.encode(text).length
}
