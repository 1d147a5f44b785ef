import { fail, ok, type Result } from "../lib/result.ts"

const mostCharacters = 65_536
const mostCommands = 50

/**
 * The simple commands of a line for the shell, each as text that says exactly what would be run:
 * its words with single spaces between them; a word that had to be quoted stands in single quotes.
 * Only what can be read without a shell is: commands with `;`, `&&`, `||`, `|` or a line end
 * between them, and redirections that write nothing. For anything else the failure says what it
 * has, to complete "the command has …".
 */
export function shellCommands(line: string): Result<string[], string> {
  if (line.length > mostCharacters) return fail(`more than ${mostCharacters} characters`)
  if (/[^\P{Cc}\t\n]/u.test(line)) return fail("control characters")
  const reader = new LineReader(line)
  const why = reader.read()
  if (why !== null) return fail(why)
  if (reader.commands.length > mostCommands) return fail(`more than ${mostCommands} commands`)
  return reader.commands.length === 0 ? fail("no words") : ok(reader.commands)
}

type Word = { text: string; isQuoted: boolean; isPattern: boolean }

/** A redirection that neither reads nor writes a file; only where a word could begin. */
const harmless = /(?:[12]?>&[12]|(?:[12]|&)?>[ \t]*\/dev\/null|<[ \t]*\/dev\/null)(?=[ \t\n;|]|$)/y
const separator = /&&|\|\||[;|\n]/y
const plain = /^[\w@%+=:,./-]*$/

class LineReader {
  readonly commands: string[] = []
  readonly #line: string
  #at = 0
  #words: Word[] = []
  #word: Word | null = null
  /** Whether a command must follow, as after `&&`. */
  #isOwed = false

  constructor(line: string) {
    this.#line = line
  }

  /** Why the line cannot be read; null when it was. */
  read(): string | null {
    while (this.#at < this.#line.length) {
      const why = this.#readNext(this.#line.charAt(this.#at))
      if (why !== null) return why
    }
    return this.#endCommand() ?? (this.#isOwed ? "an operator at its end" : null)
  }

  #readNext(character: string): string | null {
    if (character === " " || character === "\t") {
      this.#at += 1
      return this.#endWord()
    }
    if (this.#word === null && this.#take(harmless) !== null) return null
    const operator = this.#take(separator)
    if (operator !== null) return this.#separate(operator)
    if (character === "'") return this.#readSingleQuoted()
    if (character === '"') return this.#readDoubleQuoted()
    if (character === "\\") return this.#readEscaped()
    const why = this.#word === null && character === "#" ? "a comment" : syntax.get(character)
    if (why !== undefined) return why
    this.#add(character, false)
    if ("*?[".includes(character)) this.#begun.isPattern = true
    this.#at += 1
    return null
  }

  #separate(operator: string): string | null {
    const hasWords = this.#words.length > 0 || this.#word !== null
    if (operator === "\n") return hasWords ? this.#endCommand() : null
    if (!hasWords) return `\`${operator}\` with no command before it`
    const why = this.#endCommand()
    this.#isOwed = operator !== ";"
    return why
  }

  #readSingleQuoted(): string | null {
    const end = this.#line.indexOf("'", this.#at + 1)
    if (end < 0) return "a quote that is not closed"
    this.#add(this.#line.slice(this.#at + 1, end), true)
    this.#at = end + 1
    return null
  }

  #readDoubleQuoted(): string | null {
    this.#add("", true)
    for (this.#at += 1; this.#at < this.#line.length; this.#at += 1) {
      const character = this.#line.charAt(this.#at)
      if (character === '"') {
        this.#at += 1
        return null
      }
      if (character === "$" || character === "`") return syntax.get(character) ?? null
      const next = this.#line.charAt(this.#at + 1)
      if (character === "\\" && '"\\$`\n'.includes(next) && next !== "") {
        this.#add(next === "\n" ? "" : next, true)
        this.#at += 1
      } else this.#add(character, true)
    }
    return "a quote that is not closed"
  }

  #readEscaped(): string | null {
    const next = this.#line.charAt(this.#at + 1)
    if (next === "") return "a backslash at its end"
    if (next !== "\n") this.#add(next, true)
    this.#at += 2
    return null
  }

  #endWord(): string | null {
    const word = this.#word
    this.#word = null
    if (word === null) return null
    if (this.#words.length === 0) {
      if (/^[A-Za-z_]\w*\+?=/.test(word.text)) return "an assignment before the program"
      if (reserved.has(word.text)) return `the shell's word \`${word.text}\``
      if (word.isPattern) return "a pattern in place of the program"
    }
    if (word.isPattern && word.isQuoted) return "a word that is half quoted, half a pattern"
    this.#words.push(word)
    return null
  }

  #endCommand(): string | null {
    const why = this.#endWord()
    if (why !== null || this.#words.length === 0) return why
    this.commands.push(this.#words.map(written).join(" "))
    this.#words = []
    this.#isOwed = false
    return null
  }

  get #begun(): Word {
    this.#word ??= { text: "", isQuoted: false, isPattern: false }
    return this.#word
  }

  #add(text: string, isQuoted: boolean): void {
    const word = this.#begun
    word.text += text
    if (isQuoted && !plain.test(text)) word.isQuoted = true
  }

  #take(expected: RegExp): string | null {
    expected.lastIndex = this.#at
    const match = expected.exec(this.#line)
    if (match === null) return null
    this.#at += match[0].length
    return match[0]
  }
}

function written({ text, isQuoted }: Word): string {
  return isQuoted || text === "" ? `'${text.replaceAll("'", `'\\''`)}'` : text
}

const redirection = "a redirection"
const grouping = "parentheses or braces"

const syntax = new Map([
  ["$", "a `$` that the shell expands"],
  ["`", "a command in backticks"],
  ["<", redirection],
  [">", redirection],
  ["&", "an `&` that leaves it in the background"],
  ["(", grouping],
  [")", grouping],
  ["{", grouping],
  ["}", grouping],
])

const reserved = new Set(
  "! [[ ]] case coproc do done elif else esac fi for function if in select then time until while"
    .split(" ")
    .values(),
)
