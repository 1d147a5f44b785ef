/** Source text in three readings, all of the same length and lines as the original. */
export type SourceText = {
  withoutComments: string // for import specifiers, which are strings
  codeOnly: string // strings, templates and patterns blanked too: for identifiers
}

/**
 * A small lexer, because import text must be read without a compiler's API: comments, strings,
 * templates (whose `${}` is code again) and regular expressions are told apart, nothing else.
 */
export function readSource(source: string): SourceText {
  let withoutComments = ""
  let codeOnly = ""
  const openTemplates: number[] = [] // brace depth at which each `${` was opened
  let depth = 0
  let at = 0

  const take = (length: number, kind: "code" | "literal" | "comment") => {
    const text = source.slice(at, at + length)
    const blank = text.replace(/[^\n]/g, " ")
    withoutComments += kind === "comment" ? blank : text
    codeOnly += kind === "code" ? text : blank
    at += length
  }
  const takeTemplate = () => {
    const text =
      /^[`}](?:\\[\s\S]|\$(?!\{)|[^\\$`])*(?:`|\$\{|$)/.exec(source.slice(at))?.[0] ?? "`"
    if (text.endsWith("${")) openTemplates.push(depth)
    take(text.length, "literal")
  }

  while (at < source.length) {
    const rest = source.slice(at, at + 2)
    const character = source.charAt(at)
    if (rest === "//") take(lengthOf(/^[^\n]*/, source, at), "comment")
    else if (rest === "/*") take(lengthOf(/^[\s\S]*?(?:\*\/|$)/, source, at), "comment")
    else if (character === '"') take(lengthOf(/^"(?:\\.|[^"\\\n])*"?/, source, at), "literal")
    else if (character === "'") take(lengthOf(/^'(?:\\.|[^'\\\n])*'?/, source, at), "literal")
    else if (character === "`") takeTemplate()
    else if (character === "}" && openTemplates.at(-1) === depth) {
      openTemplates.pop()
      takeTemplate()
    } else if (character === "/" && startsPattern(codeOnly)) {
      take(lengthOf(/^\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n])+\/?/, source, at), "literal")
    } else {
      if (character === "{") depth += 1
      if (character === "}") depth -= 1
      take(1, "code")
    }
  }
  return { withoutComments, codeOnly }
}

// A slash divides after a value; anywhere else it opens a regular expression.
function startsPattern(codeBefore: string): boolean {
  return /(?:^|[(,=:[!&|?{};+\-*%<>~^]|\b(?:return|typeof|case|of|in))\s*$/.test(
    codeBefore.slice(-80),
  )
}

function lengthOf(pattern: RegExp, source: string, at: number): number {
  return pattern.exec(source.slice(at))?.[0].length ?? 1
}
