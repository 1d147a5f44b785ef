import { clientVariables } from "../../config/client-variables.ts"
import type { Connection } from "./connection.ts"

export type EntryValue = string | readonly string[] | Readonly<Record<string, string>>
/** What stands under the server's name in a client's configuration. */
export type ServerEntry = Readonly<Record<string, EntryValue>>

/** What is to stand in a client's file. */
export type Wanted = {
  /** The key that holds all servers: `mcpServers`. */
  readonly root: string
  readonly name: string
  readonly entry: ServerEntry
  /** Questions the client asks its user, in VS Code's `inputs`. */
  readonly inputs: readonly Input[]
}

export type Input = { type: "promptString"; id: string; description: string; password: true }

/** Of a file's text: as it is, as it should be, or why it is better left alone. */
export type Merged =
  | { kind: "unchanged" }
  | { kind: "changed"; text: string }
  | { kind: "exists" }
  | { kind: "refused"; why: string }

type Program = Extract<Connection, { kind: "program" }>
type Address = Extract<Connection, { kind: "address" }>

export const tokenVariable = clientVariables.token

/** A program to start. `token` is how the client writes the value of the token's variable. */
export function programEntry({ command, args, needsVariable }: Program, token: string) {
  return { command, args, ...(needsVariable ? { env: { [tokenVariable]: token } } : {}) }
}

/** The header that an address is asked with. */
export function headersOf({ needsVariable }: Address, token: string) {
  return needsVariable ? { headers: { Authorization: `Bearer ${token}` } } : {}
}
