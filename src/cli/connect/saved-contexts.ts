import { mkdirSync, realpathSync, writeSync } from "node:fs"
import { join } from "node:path"
import { findNodeAtLocation, getNodeValue } from "jsonc-parser/lib/esm/main.js"
import { z } from "zod"
import { isErrno } from "../../lib/errno.ts"
import { openOwned, readAll, replaceOwned } from "../../lib/owned-file.ts"
import type { Context } from "../context.ts"
import { CommandFailure, orFail } from "../failure.ts"
import { readJsonText } from "../mcp-install/json-text.ts"
import { tryCommandLock } from "./state-directory.ts"

/** The local service: always there, and no name for another. */
export const localName = "local"

const absolute = z.string().regex(/^\//, "must be an absolute path").optional()

/** A remote service, with the files that it takes to reach it: never what is in them. */
export const SavedContext = z.strictObject({
  url: z.string(),
  token_file: absolute,
  ca_file: absolute,
  client_cert: absolute,
  client_key: absolute,
})
export type SavedContext = z.infer<typeof SavedContext>

const contextName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

const SavedContexts = z.strictObject({
  current: z.string().nullable().default(null),
  contexts: z.record(z.string().regex(contextName, "is not a name"), SavedContext).default({}),
})
export type SavedContexts = z.infer<typeof SavedContexts>

type World = Pick<Context, "env" | "home">

const mostBytes = 1024 * 1024

/** Where they are kept, whether or not there are any. */
export function contextsPath({ env, home }: World): string {
  return join(configDirectory(env, home), "contexts.json")
}

function configDirectory(env: World["env"], home: string): string {
  // The XDG base directory specification has relative paths ignored.
  const configHome = env["XDG_CONFIG_HOME"] ?? ""
  return join(configHome.startsWith("/") ? configHome : join(home, ".config"), "cc-executor")
}

export function readContexts(world: World): SavedContexts {
  const path = contextsPath(world)
  const text = orFail(
    () => textOf(path),
    (errno) => `${path} cannot be read (${errno}).`,
  )
  return text === null ? { current: null, contexts: {} } : parseContexts(path, text)
}

/** Null where there are none yet. */
function textOf(path: string): string | null {
  try {
    // One's own configuration may well be a link to where it is kept with others.
    const real = join(realpathSync(join(path, "..")), "contexts.json")
    using file = openOwned(real, "read")
    const user = process.geteuid?.() ?? file.stat.uid
    if (file.stat.uid !== user) {
      // Its owner would choose where this user's tokens are sent.
      throw new CommandFailure(
        `${path} belongs to user ${file.stat.uid}, and this is user ${user}, so it is not used. ` +
          `Run this as that user, or with --context ${localName}.`,
      )
    }
    return readAll(file, real, mostBytes).toString("utf8")
  } catch (error) {
    if (isErrno(error, "ENOENT")) return null
    throw error
  }
}

function parseContexts(path: string, text: string): SavedContexts {
  const json = readJsonText(text)
  if (!json.ok) throw broken(path, json.failure.line, json.failure.message)
  const { root } = json.value
  const read = SavedContexts.safeParse(getNodeValue(root))
  if (!read.success) {
    const [issue] = read.error.issues
    const segments = (issue?.path ?? []).map(String)
    const offset = findNodeAtLocation(root, segments)?.offset ?? 0
    const line = text.slice(0, offset).split("\n").length
    throw broken(path, line, `${segments.join(".")}: ${issue?.message ?? "is not valid"}`)
  }
  const { current, contexts } = read.data
  if (current === null || Object.hasOwn(contexts, current)) return read.data
  const offset = findNodeAtLocation(root, ["current"])?.offset ?? 0
  throw broken(path, text.slice(0, offset).split("\n").length, `there is no context "${current}"`)
}

function broken(path: string, line: number, why: string): CommandFailure {
  return new CommandFailure(
    `${path}, line ${line}: ${why}. Correct it, or remove the file and add the contexts again.`,
  )
}

/** Reads, changes and writes them as one: of two at the same time, one is told to try again. */
export function changeContexts(
  world: World,
  change: (saved: SavedContexts) => SavedContexts,
): SavedContexts {
  const path = contextsPath(world)
  return orFail(
    () => {
      mkdirSync(join(path, ".."), { recursive: true, mode: 0o700 })
      const directory = realpathSync(join(path, ".."))
      using lock = tryCommandLock(join(directory, "contexts.lock"))
      if (lock === null) {
        throw new CommandFailure("Another command is changing the contexts. Try again.")
      }
      const changed = change(readContexts(world))
      const text = `${JSON.stringify(changed, null, 2)}\n`
      const write = (fd: number) => void writeSync(fd, text)
      replaceOwned(join(directory, "contexts.json"), write, { durable: true })
      return changed
    },
    (errno) => `${path} cannot be written (${errno}).`,
  )
}

export function checkContextName(name: string): void {
  if (name === localName) {
    throw new CommandFailure(`"${localName}" is the local service. Choose another name.`, 2)
  }
  if (contextName.test(name)) return
  throw new CommandFailure(
    `"${name}" is not a name for a context: use letters, digits, dots, dashes and underscores.`,
    2,
  )
}

/** The context of that name, which must exist. */
export function contextNamed(world: World, name: string): SavedContext {
  const { contexts } = readContexts(world)
  const found = Object.hasOwn(contexts, name) ? contexts[name] : undefined
  if (found !== undefined) return found
  const known = [localName, ...Object.keys(contexts)].join(", ")
  throw new CommandFailure(`There is no context "${name}". There are: ${known}.`, 2)
}
