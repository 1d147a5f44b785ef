import { shellCommands } from "./shell-commands.ts"

/** A field of a tool's input as patterns see it. */
export type Readable =
  /** For a line for the shell its simple commands, else one text. */
  | { kind: "texts"; texts: readonly string[] }
  /** It is there, but what it comes to cannot be told. */
  | { kind: "unclear"; why: string }

const mostCharacters = 65_536

/** Null where the input has no such field. */
export function readField(input: unknown, name: string, directory: string): Readable | null {
  if (typeof input !== "object" || input === null || !Object.hasOwn(input, name)) return null
  const value: unknown = Reflect.get(input, name)
  if (typeof value === "number" || typeof value === "boolean") return texts(String(value))
  if (typeof value !== "string") return unclear(`the field ${name} is not a text`)
  if (name === "command") {
    const commands = shellCommands(value)
    if (!commands.ok) return unclear(`the command has ${commands.failure}`)
    return { kind: "texts", texts: commands.value }
  }
  if (value.length > mostCharacters) {
    return unclear(`the field ${name} has more than ${mostCharacters} characters`)
  }
  return /(?:^|_)path$/.test(name) ? readPath(value, name, directory) : texts(value)
}

/** What leads elsewhere than it says is not compared: `/srv/work/../../etc/passwd`. */
function readPath(path: string, name: string, directory: string): Readable {
  const given = path.startsWith("/") ? path : `${directory === "/" ? "" : directory}/${path}`
  const absolute = given === "/" ? given : given.replace(/\/$/, "")
  const isPlain = absolute === "/" || !/\/\.{0,2}(?:\/|$)/.test(absolute)
  if (isPlain && !path.startsWith("~")) return texts(absolute)
  return unclear(`the path in ${name} has \`.\`, \`..\`, \`//\` or \`~\` in it`)
}

function texts(text: string): Readable {
  return { kind: "texts", texts: [text] }
}

function unclear(why: string): Readable {
  return { kind: "unclear", why }
}
