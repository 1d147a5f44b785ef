import { type Given, isGiven } from "./givens.ts"

/** What the comments before a block say of how it is run. */
export type Comments = {
  given: Given[]
  exitCode: number
  until: string | null // no command of it ends by itself, and each is interrupted after this text
  goesOnAfter: string | null // its last command stays, ready after this text
  file: string | null
  conversation: boolean
  runBy: string | null
  notRun: string | null
}

const none: Comments = {
  given: [],
  exitCode: 0,
  until: null,
  goesOnAfter: null,
  file: null,
  conversation: false,
  runBy: null,
  notRun: null,
}

/** A comment of another form is an error: one that was misspelt would change nothing, unseen. */
export function readComments(lines: string[], place: string): Comments {
  return lines.reduce((comments, line) => {
    const [, name = "", value = ""] = /^<!-- ([a-z ]+?)(?:: (.+?))? -->$/.exec(line) ?? []
    const read = readComment(name, value)
    if (read === null) throw new Error(`${place}: nobody understands the comment ${line}`)
    return { ...comments, ...read }
  }, none)
}

function readComment(name: string, value: string): Partial<Comments> | null {
  if (name === "conversation" && value === "") return { conversation: true }
  if (value === "") return null
  switch (name) {
    case "given": {
      const names = value.split(", ")
      const given = names.filter(isGiven)
      return given.length === names.length ? { given } : null
    }
    case "exit code":
      return /^\d{1,3}$/.test(value) ? { exitCode: Number(value) } : null
    case "until":
      return { until: value }
    case "goes on after":
      return { goesOnAfter: value }
    case "file":
      return { file: value }
    case "run by":
      return { runBy: value }
    case "not run":
      return { notRun: value }
    default:
      return null
  }
}
