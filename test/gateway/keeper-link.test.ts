import { expect, test } from "bun:test"
import { openKeeperLink } from "../../src/gateway/keeper-link.ts"
import type { GatewayMessage } from "../../src/protocol/ipc.ts"

test("news is taken even where it breaks a reader: all other news waits for that", async () => {
  const sent: GatewayMessage[] = []
  let receive = (_message: unknown): void => undefined
  const channel = {
    send: (message: GatewayMessage) => void sent.push(message),
    onMessage: (received: (message: unknown) => void) => {
      receive = received
    },
  }
  const opening = openKeeperLink(channel, {
    news: () => {
      throw new Error("a disk that cannot be read")
    },
    draining: () => undefined,
    connections: () => 0,
  })
  opening.catch(() => undefined) // it is never configured here

  const news = { kind: "news", advances: [], changes: [], resync: false }
  expect(() => receive(news)).toThrow("a disk that cannot be read")

  expect(sent).toEqual([{ kind: "news-taken" }])
})
