import type { MiddlewareHandler } from "hono"
import type { Tarpit } from "../../../access/tarpit.ts"
import { refusalIn } from "../answer.ts"
import type { HttpEnvironment } from "../ports.ts"

/** Who asks too fast waits for the answer that says so, wherever it was found out. */
export function holdRefusals(tarpit: Pick<Tarpit, "hold">): MiddlewareHandler<HttpEnvironment> {
  return async (c, next) => {
    await next()
    const failure = refusalIn(c.res)
    if (failure !== null) await tarpit.hold(failure)
  }
}
