import type { Connection, HttpContext } from "./ports.ts"

/** Hono's types promise an environment, but without one given to `fetch` there is none. */
export function connectionOf(c: HttpContext): Connection {
  const given: Connection | undefined = c.env
  return given ?? {}
}
