import { fail, ok, type Result } from "../lib/result.ts"

/** What a script's first line calls: a path as it stands there, or a name to find along PATH. */
export type Interpreter = { kind: "path"; path: string } | { kind: "name"; name: string }

/** Linux looks at so many bytes of a file. */
export const shebangBytes = 256

/**
 * The interpreters of a script in the order they are executed; none for what is no script. `env`
 * is followed to what it starts in its turn.
 */
export function interpretersOf(head: Uint8Array): Result<Interpreter[], string> {
  const text = new TextDecoder().decode(head.subarray(0, shebangBytes))
  if (!text.startsWith("#!")) return ok([])
  const end = text.indexOf("\n")
  const line = (end < 0 ? text : text.slice(0, end)).slice(2).replace(/^[ \t]+|[ \t]+$/g, "")
  const [path = ""] = line.split(/[ \t]/)
  if (!path.startsWith("/")) {
    return fail(`its interpreter ${JSON.stringify(path)} is not an absolute path`)
  }
  if (end < 0 && head.length >= shebangBytes && line === path) {
    return fail("its first line is too long")
  }
  const first: Interpreter = { kind: "path", path }
  if (path.slice(path.lastIndexOf("/") + 1) !== "env") return ok([first])
  const target = startedByEnv(line.slice(path.length).trim())
  if (target === null) return fail("its first line gives `env` options that cannot be followed")
  if (target.startsWith("/")) return ok([first, { kind: "path", path: target }])
  if (!target.includes("/")) return ok([first, { kind: "name", name: target }])
  return fail(`its first line makes \`env\` start ${target}, which depends on the directory`)
}

/** `NAME`, or with -S a whole command line, possibly with variables that change nothing of it. */
function startedByEnv(argument: string): string | null {
  const split = /^(?:-S|--split-string=|-vS)\s*(.*)$/.exec(argument)?.[1]
  // Without -S the kernel passes all of it as one word.
  if (split === undefined) return /^[^-\s=][^\s=]*$/.test(argument) ? argument : null
  const words = split.split(/[ \t]+/)
  const [name] = words
  // Quotes, escapes, expansions, options and assignments could each make it another program.
  return name !== undefined && /^[\w./+-]+$/.test(name) && !name.startsWith("-") ? name : null
}
