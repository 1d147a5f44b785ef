import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import * as clientErrors from "../../../src/client/client-error.ts"
import type { Client } from "../../../src/client/connect.ts"
import { readIncoming } from "../../../src/client/connection/incoming.ts"
import { quickClient } from "../../support/following.ts"
import { HostileServer } from "./hostile-server.ts"

/** Every way in which a client may say that something did not work. */
const declared = Object.values(clientErrors)

describe("whatever a server sends", () => {
  const kinds = ["answer", "refusal", "greeting", "output", "frame", "notice", "changed"]
  const others = ["unreadable-notice", "unknown", "garbage"]
  const method = fc.oneof(
    fc.constantFrom("connected", "process.output", "process.completed", "execution.changed"),
    fc.string(),
  )
  const message = fc.oneof(
    fc.string(),
    fc.json(),
    fc.record({ method, params: fc.jsonValue() }).map((fields) => JSON.stringify(fields)),
    fc
      .record({ id: fc.jsonValue(), error: fc.jsonValue() })
      .map((fields) => JSON.stringify(fields)),
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Uint8Array.from(bytes).buffer),
    fc.anything(),
  )

  test("is told apart, and nothing is thrown", () => {
    fc.assert(
      fc.property(message, (data) => {
        expect([...kinds, ...others]).toContain(readIncoming(data).kind)
      }),
      { numRuns: 3000 },
    )
  })
})

describe("a client of a server that says whatever comes to its mind", () => {
  test.each(Array.from({ length: 40 }, (_, number) => number + 1))(
    "gets answers or errors of its own, and can always leave: seed %d",
    async (seed) => {
      await using server = new HostileServer(seed)
      const client = quickClient(server.url, {
        limits: { greetingMs: 30, silenceMs: 20, silenceAnswerMs: 20, statusEveryMs: 5 },
      })

      const asked = Promise.allSettled([
        useExecution(client),
        client.call("list", {}),
        client.call("status", { execution_id: "a" }),
        client.attach("a").then((execution) => Array.fromAsync(execution.output())),
        Array.fromAsync(client.watch()),
      ])
      await Promise.race([asked, Bun.sleep(80)]) // what is said in this time is the load
      await client.close()
      const outcomes = await asked

      const surprises = outcomes.filter(
        (outcome) =>
          outcome.status === "rejected" &&
          !declared.some((error) => outcome.reason instanceof error),
      )
      expect(surprises).toEqual([])
    },
  )
})

async function useExecution(client: Client): Promise<void> {
  await using execution = await client.execute({ argv: ["true"], stdin: "pipe" })
  await Promise.allSettled([
    Array.fromAsync(execution.output()),
    execution.write("x"),
    execution.pause(),
    execution.cancel(),
    execution.ended,
  ])
}
