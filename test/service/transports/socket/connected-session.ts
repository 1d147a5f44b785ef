import { MessageRateLimiter } from "../../../../src/protocol/session-limits.ts"
import type { Operations } from "../../../../src/service/gateway/ports.ts"
import { Session } from "../../../../src/service/transports/socket/session.ts"
import { NotedRefusals } from "../../../support/noted.ts"
import { QuietLog } from "../../../support/quiet-log.ts"
import { ScriptedConnection } from "../../../support/scripted-connection.ts"
import { caller } from "../../../support/staged-execution.ts"

/** A session of somebody's, and what it is told. */
export function connect(operations: Operations, messagesPerSecond = 10_000) {
  const connection = new ScriptedConnection()
  const log = new QuietLog()
  const reportGarbage = () => undefined
  const rateLimiter = new MessageRateLimiter(messagesPerSecond, performance.now())
  const flooded = () => undefined
  const refusals = new NotedRefusals()
  const events = { log, refusals, reportGarbage, flooded, answered: () => undefined }
  const session = new Session({ id: "s", caller, operations, connection, rateLimiter, ...events })
  let lastId = 0
  const ask = (method: string, params: object = {}) => {
    lastId += 1
    void session.receive(JSON.stringify({ jsonrpc: "2.0", id: lastId, method, params }))
    return lastId
  }
  return { connection, session, log, refusals, ask }
}
