import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Scope } from "../../src/execution/scope.ts"
import { methods } from "../../src/protocol/methods.ts"
import { endpoints } from "../../src/service/transports/http/endpoints.ts"
import { tools } from "../../src/service/transports/mcp/tools/tools.ts"
import { type Deed, deeds, type Target } from "../support/deeds.ts"
import { handledMethods, valuesOf } from "../support/handled-methods.ts"
import { McpTalk } from "../support/mcp-talk.ts"
import { notifyDeedTargets } from "../support/notify-deeds.ts"
import { RawSession } from "../support/raw-session.ts"
import { byScale } from "../support/scale.ts"
import {
  busyFlags,
  type Door,
  httpDoor,
  legacyHttpDoor,
  mcpSocketDoor,
  modernHttpDoor,
  nativeDoor,
  stdioDoor,
} from "../support/scoped-doors.ts"
import {
  legacyOperations,
  mcpOperations,
  modernOperations,
  subscribingOperations,
  taskOperations,
  toolOperations,
} from "../support/scoped-mcp-operations.ts"
import {
  httpOperations,
  nativeOperations,
  type ScopedOperation,
} from "../support/scoped-operations.ts"
import { Service } from "../support/service.ts"
import { bearing, makeToken } from "../support/tokens.ts"
import { until } from "../support/until.ts"
import { deedEnvironment } from "../support/work-deeds.ts"

let service: Service
const targets = notifyDeedTargets()
let owner: RawSession
let words = 0
/** By their scopes. All of one name: what is asked about belongs to whoever asks. */
const tokens = new Map<string, string>()

beforeAll(async () => {
  const flags = { ...busyFlags, ...targets.flags }
  service = await Service.start({ flags, env: deedEnvironment })
  owner = await RawSession.open(await service.url(), bearing(await tokenOf(["admin"])))
})

afterAll(async () => {
  owner[Symbol.dispose]()
  await service[Symbol.asyncDispose]()
  targets[Symbol.dispose]()
})

const newest = [...modernOperations, ...taskOperations]

/**
 * Of doors that differ from another one only in how they are reached or spoken through: a short run
 * tries one operation in so many there, at every door others.
 */
const share = byScale({ short: 10, full: 1, long: 1 })
function shareOf<Request>(all: readonly ScopedOperation<Request>[], nth: number, oneIn = share) {
  return all.filter((_, index) => index % oneIn === nth % oneIn)
}

/** Of MCP, each operation comes up in one of its revisions at least. */
const eraShare = byScale({ short: 2, full: 1, long: 1 })

type OpenDoor<Request> = (token: string) => Door<Request> | Promise<Door<Request>>

describe("the native protocol", () => {
  everyScope(nativeOperations, async (token) => nativeDoor(await service.url(), token))
})

describe("the native protocol on the unix socket", () => {
  everyScope(shareOf(nativeOperations, 0), (token) => nativeDoor(unixUrl(), token))

  test("lets whoever shows no token do everything: it is the service's own user", async () => {
    await using door = await nativeDoor(unixUrl())
    for (const operation of nativeOperations) {
      const { refused, isDone } = await attempt(operation, door)
      expect([nameOf(operation), refused, isDone]).toEqual([nameOf(operation), null, true])
    }
  })
})

describe("HTTP", () => {
  everyScope(httpOperations, (token) => httpDoor(service, token))
})

describe("HTTP on the unix socket", () => {
  everyScope(shareOf(httpOperations, 1), (token) => {
    return httpDoor(service, token, `${service.stateDir}/gateway.sock`)
  })
})

describe("the native protocol, by a ticket", () => {
  everyScope(shareOf(nativeOperations, 2), async (token) => {
    const asked = await fetch(await service.url("/tickets"), { method: "POST", ...bearing(token) })
    const { ticket } = JSON.parse(await asked.text())
    return nativeDoor(`${await service.url()}?ticket=${ticket}`)
  })
})

describe("MCP of earlier revisions over HTTP", () => {
  everyScope(shareOf([...toolOperations, ...mcpOperations], 3), (token) =>
    legacyHttpDoor(service, token),
  )
})

describe("MCP over standard input and output", () => {
  everyScope(shareOf([...toolOperations, ...mcpOperations], 4), (token) =>
    stdioDoor(service, token),
  )
})

describe("MCP over HTTP", () => {
  const operations = [...toolOperations, ...mcpOperations.filter(isOfBothEras)]
  everyScope([...shareOf(operations, 0, eraShare), ...newest], (token) =>
    modernHttpDoor(service, token),
  )
})

describe("MCP over WebSocket", () => {
  const operations = [...toolOperations, ...mcpOperations.filter(isOfBothEras), ...newest]
  everyScope(shareOf(operations, 0), (token) => mcpSocketDoor(service, token, "modern"))
})

describe("MCP of earlier revisions over WebSocket", () => {
  const operations = [...toolOperations, ...mcpOperations.filter(isOfBothEras)]
  const besides = mcpOperations.filter((operation) => !isOfBothEras(operation))
  const tried = [...shareOf(operations, 1, eraShare), ...besides, ...subscribingOperations]
  everyScope(tried, (token) => mcpSocketDoor(service, token, "legacy"))
})

describe("subscriptions/listen", () => {
  test.each(Scope.options)(
    "tells who has %s what that may see, and nothing else",
    async (scope) => {
      const { id } = await deeds.follows.stage(owner, "listened")
      const uri = `cc-executor://executions/${id}`
      const token = await tokenOf([scope])
      await using talk = await McpTalk.open(service, { token, era: "modern" })

      const notifications = { resourceSubscriptions: [uri] }
      talk.send({ id: 1, method: "subscriptions/listen", params: { notifications } })
      const told = await until("it is acknowledged", () =>
        talk.heard.find(({ method }) => method?.endsWith("acknowledged")),
      )

      const mayRead = scope === "read" || scope === "admin"
      const heard = told.params?.["notifications"]["resourceSubscriptions"] ?? []
      expect(heard).toEqual(mayRead ? [uri] : [])
    },
  )
})

describe("a subscription of one's own", () => {
  test.each(Scope.options)("can be ended and acknowledged for by who has %s", async (scope) => {
    const { id } = await deeds.follows.stage(owner, "subscribed")
    using session = await RawSession.open(await service.url(), bearing(await tokenOf([scope])))
    const subscribed = await subscription(session, id)

    const ack = { execution_id: subscribed ?? id, next: "1.0.0.0.0.0" }
    const acknowledged = await session.response(session.request("ack", ack))
    const detached = await session.response(
      session.request("detach", { execution_id: subscribed ?? id }),
    )

    expect("error" in acknowledged).toBe(subscribed === null)
    expect("error" in detached).toBe(subscribed === null)
  })
})

describe("what is tried here", () => {
  test("is every method of the native protocol", () => {
    const ofSubscription = ["ack", "detach"]
    // A service of its own has none; who may order nodes about is tried where there are some.
    const ofNodes = Object.keys(methods).filter((name) => name.startsWith("node."))
    const tried = namesOf(nativeOperations, [...ofSubscription, ...ofNodes])
    expect(tried).toEqual(Object.keys(methods).toSorted())
  })

  test("is every way to steer, and every role", () => {
    const steered = nativeOperations.filter(({ name }) => name === "control")
    const variants = steered.map(({ variant }) => variant ?? "").toSorted()
    const roles = nativeOperations.filter(({ name }) => name === "attach")

    expect(variants).toEqual(valuesOf(methods.control.params, "type"))
    expect(roles).toHaveLength(valuesOf(methods.attach.params, "role").length)
  })

  test("is every route of HTTP", () => {
    const routes = endpoints.map(({ method, path }) => `${method} ${path}`)
    expect(namesOf(httpOperations)).toEqual(routes.toSorted())
  })

  test("is every tool", () => {
    expect(namesOf(toolOperations)).toEqual(tools.map(({ name }) => name).toSorted())
  })

  test.each(["legacy", "modern"] as const)("is every method of MCP, %s", async (era) => {
    const subscribing = era === "legacy" ? subscribingOperations : []
    const tried = [...mcpOperations, ...legacyOperations, ...modernOperations, ...subscribing]
    // The SDK registers what belongs to the other era as well, and answers that there is none.
    const handled = await handledMethods(era)
    expect(handled.filter((name) => !namesOf(tried, ["tools/call"]).includes(name))).toEqual([])
    expect(handled).toContain("tools/call")
    expect(handled).toContain(era === "legacy" ? "resources/subscribe" : "tasks/cancel")
  })
})

function everyScope<Request>(operations: ScopedOperation<Request>[], open: OpenDoor<Request>) {
  // One for all operations: a principal may not connect hundreds of times in a row.
  const doors = new Map<string, Door<Request>>()
  const doorOf = async (scopes: Scope[]): Promise<Door<Request>> => {
    const key = scopes.join()
    const door = doors.get(key) ?? (await open(await tokenOf(scopes)))
    doors.set(key, door)
    return door
  }

  afterAll(async () => {
    for (const door of doors.values()) await door[Symbol.asyncDispose]()
  })

  test.each(operations.map((operation) => [nameOf(operation), operation] as const))(
    "%s is done, or refused with nothing done",
    async (_, operation) => {
      const { needs } = operation
      // What needs several is also asked for by one who has just these.
      const holders: Scope[][] = [...Scope.options.map((scope) => [scope]), [...needs]]
      for (const scopes of holders.filter(({ length }) => length > 0)) {
        const { refused, isDone, told, target } = await attempt(operation, await doorOf(scopes))

        const mayDo = scopes.includes("admin") || needs.every((scope) => scopes.includes(scope))
        const expected = mayDo ? { refused: null, isDone: true } : { isDone: false }
        expect({ scopes, refused, isDone }).toEqual({ scopes, refused: "FORBIDDEN", ...expected })
        if (!mayDo) expect(told).not.toContain(target.word)
      }
    },
  )
}

async function attempt<Request>({ deed, request }: ScopedOperation<Request>, door: Door<Request>) {
  const target = await stagedFor(deed)
  const { refused, told } = await door.ask(request(target))
  if (deed.isDone === null) return { refused, told, isDone: refused === null, target }
  const isDone = await deed.isDone(owner, target)
  if (isDone) staged.delete(deed)
  return { refused, told, isDone, target }
}

/** To what nothing was done yet, the next may do it: most of the time is spent on setting up. */
const staged = new Map<Deed, Target>()

async function stagedFor(deed: Deed): Promise<Target> {
  words += 1
  const target = staged.get(deed) ?? (await deed.stage(owner, `word-${words}`))
  staged.set(deed, target)
  return target
}

/** Subscribes in whichever way the session may: to what; null where it may not at all. */
async function subscription(session: RawSession, execution_id: string): Promise<string | null> {
  for (const role of ["observer", "driver"]) {
    const attached = await session.response(session.request("attach", { execution_id, role }))
    if (!("error" in attached)) return execution_id
  }
  const started = await session.response(session.request("execute", { command: "sleep 1" }))
  return "error" in started ? null : methods.execute.result.parse(started.result).execution_id
}

async function tokenOf(scopes: readonly Scope[]): Promise<string> {
  const scope = scopes.join()
  const token = tokens.get(scope) ?? (await makeToken(service.stateDir, { name: "agent", scope }))
  tokens.set(scope, token)
  return token
}

function unixUrl(): string {
  return `ws+unix://${service.stateDir}/gateway.sock:/ws/mcp`
}

/** `ping` is one of those that the revision without connections has dropped. */
function isOfBothEras({ name }: { name: string }): boolean {
  return name !== "ping"
}

function nameOf({ name, variant }: { name: string; variant?: string }): string {
  return variant === undefined ? name : `${name} (${variant})`
}

function namesOf(operations: { name: string }[], besides: string[] = []): string[] {
  return [...new Set([...operations.map(({ name }) => name), ...besides])].toSorted()
}
