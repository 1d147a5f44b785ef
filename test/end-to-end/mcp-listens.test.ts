import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { untilNoted } from "../support/audit-lines.ts"
import { type Heard, McpTalk } from "../support/mcp-talk.ts"
import { sendModern } from "../support/modern-mcp.ts"
import { RawSession } from "../support/raw-session.ts"
import { Service } from "../support/service.ts"
import { bearing, makeToken } from "../support/tokens.ts"
import { until } from "../support/until.ts"

let service: Service
let owner: RawSession
let blind: string

beforeAll(async () => {
  service = await Service.start()
  owner = await RawSession.open((await service.listening).href)
  blind = await makeToken(service.stateDir, { name: "blind", scope: "execute" })
})

afterAll(async () => {
  owner[Symbol.dispose]()
  await service[Symbol.asyncDispose]()
})

const nowhere = "cc-executor://executions/zzzzzzzzzzzzzzzzzzzzzzzzzz"

/** Listens to resources, and returns the first thing it is told. */
const ways: Record<string, (uris: string[], token?: string) => Promise<Heard>> = {
  "over WebSocket": async (uris, token) => {
    await using client = await McpTalk.open(service, modern(token))
    client.send(listenTo(1, uris))
    return await until("it is answered", () => client.heard[0])
  },
  "over HTTP": async (uris, token) => {
    const { method, params } = listenTo(1, uris)
    const leave = new AbortController()
    const answer = await sendModern(service, method, params, {
      signal: leave.signal,
      ...(token === undefined ? {} : bearing(token)),
    })
    if (answer.body === null) throw new Error("no body")
    let text = ""
    for await (const bytes of answer.body) {
      text = new TextDecoder().decode(bytes)
      break
    }
    leave.abort()
    const [first = ""] = text.split("\n\n")
    return JSON.parse(first.replace(/^event: message\ndata: /, ""))
  },
}

describe.each(Object.entries(ways))("what is listened to %s", (_, listen) => {
  test("is acknowledged as far as there is something to hear", async () => {
    const id = await started("sleep 20")
    const uri = `cc-executor://executions/${id}`

    const told = await listen([nowhere, uri, "file:///etc/passwd", `${uri}/transcript`])

    expect(told.method).toBe("notifications/subscriptions/acknowledged")
    expect(told.params?.["notifications"]).toEqual({
      resourceSubscriptions: [uri, `${uri}/transcript`],
    })
  })

  test("is nothing without the scope for it, and the try is noted", async () => {
    const id = await started("sleep 20")

    const told = await listen([`cc-executor://executions/${id}`], blind)

    expect(told.params?.["notifications"]["resourceSubscriptions"] ?? []).toEqual([])
    await untilNoted(service.stateDir, {
      principal: "blind",
      method: "subscriptions/listen",
      reason: "FORBIDDEN",
      execution_id: id,
    })
  })

  test("is refused when it is too much", async () => {
    const uris = Array.from({ length: 101 }, (__, index) => `${nowhere.slice(0, -3)}${index}`)

    const told = await listen(uris)

    expect(told.error?.code).toBe(-32602)
    expect(told.error?.message).toContain("At most 100")
  })
})

describe("on one WebSocket", () => {
  test("so many requests may listen, and one more when one is cancelled", async () => {
    const uri = `cc-executor://executions/${await started("sleep 20")}`
    await using client = await McpTalk.open(service, { era: "modern" })
    const count = () => client.heard.filter(({ method }) => method?.endsWith("acknowledged")).length
    for (let id = 1; id <= 32; id++) client.send(listenTo(id, [uri]))
    await until("all of them listen", () => count() === 32)

    const refused = await client.ask(listenTo(33, [uri]))
    client.send({ method: "notifications/cancelled", params: { requestId: 5 } })
    client.send(listenTo(34, [uri]))

    expect(refused.error?.message).toContain("32 subscriptions")
    await until("there is room for one more", () => count() === 33)
  })

  test("an id that listens already is refused", async () => {
    const uri = `cc-executor://executions/${await started("sleep 20")}`
    await using client = await McpTalk.open(service, { era: "modern" })

    client.send(listenTo(1, [uri]))
    client.send(listenTo(1, [`${uri}/transcript`]))

    const refused = await until("it is refused", () => client.heard.find(({ error }) => error))
    expect(refused.error?.message).toContain("in use")
  })

  test("a legacy client hears nothing by a request that its revision does not have", async () => {
    const id = await started("read line; echo $line; read line", "pipe")
    const uri = `cc-executor://executions/${id}/transcript`
    await using legacy = await McpTalk.open(service)
    await using witness = await McpTalk.open(service)

    const refused = await legacy.ask(listenTo(1, [uri]))
    await witness.ask({ id: 1, method: "resources/subscribe", params: { uri } })
    await owner.call("input", { execution_id: id, data: "said\n" })
    await until("who subscribed is told", () => witness.heard.some(isUpdate))
    await legacy.ask({ id: 2, method: "ping" })

    expect(refused.error?.code).toBe(-32601)
    expect(legacy.heard.filter(isUpdate)).toEqual([])
  })
})

function isUpdate({ method }: Heard): boolean {
  return method === "notifications/resources/updated"
}

function modern(token: string | undefined) {
  return { era: "modern" as const, ...(token === undefined ? {} : { token }) }
}

function listenTo(id: number, resourceSubscriptions: string[]) {
  const params = { notifications: { resourceSubscriptions } }
  return { id, method: "subscriptions/listen", params }
}

async function started(command: string, stdin: "pipe" | "closed" = "closed"): Promise<string> {
  const { execution_id } = await owner.call("execute", { command, stdin })
  return execution_id
}
