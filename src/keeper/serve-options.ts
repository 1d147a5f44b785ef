import type { Logger } from "../log.ts"

export type ServeOptions = {
  version: string
  /** How to start this very program again. */
  self: readonly string[]
  /** The environment children start from. */
  env: Record<string, string | undefined>
  cwd: string
  logger: Logger
  /** Says something to whoever started the service, on standard error. */
  say: (text: string) => void
}
