import type { MiddlewareHandler } from "hono"
import { refusalIn, refuseIn } from "../answer.ts"
import type { HttpEnvironment } from "../ports.ts"

/** Where JSON-RPC is spoken, what is refused before it is read is refused in its form too. */
export const rpcRefusals: MiddlewareHandler<HttpEnvironment> = async (c, next) => {
  await next()
  const failure = refusalIn(c.res)
  if (failure === null) return
  c.res = undefined // else Hono makes a third response, with the headers of both
  c.res = refuseIn({ jsonrpc: "2.0", id: null }, failure)
}
