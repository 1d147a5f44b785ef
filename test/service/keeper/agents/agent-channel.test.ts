import { expect, test } from "bun:test"
import { AgentChannel } from "../../../../src/service/keeper/agents/agent-channel.ts"
import { InputQueue } from "../../../../src/service/keeper/supervision/input-queue.ts"
import { ManualClock } from "../../../support/manual-clock.ts"
import { ScriptedInput } from "../../../support/scripted-input.ts"

// A tool of an agent may get hold of its host by ptrace: then this is all that it can do here.

const end = (message: string) => `${JSON.stringify({ end: { cause: "client", message } })}\n`

/** What comes of the pieces that a host has written; a number is a time that passes. */
async function heard(...pieces: (string | number)[]): Promise<{ odd: string[]; endings: number }> {
  const clock = new ManualClock()
  const odd: string[] = []
  let endings = 0
  const rest = [...pieces]
  const output = {
    read: async () => {
      while (typeof rest[0] === "number") clock.advance(Number(rest.shift()))
      const piece = rest.shift()
      return piece === undefined ? null : Buffer.from(String(piece))
    },
    cancel: () => undefined,
    handOver: () => null,
  }
  const input = new InputQueue(new ScriptedInput(), () => undefined)
  const channel = new AgentChannel(input, output, clock, () => 0, {
    status: () => undefined,
    decided: () => undefined,
    ending: () => void (endings += 1),
    odd: (why) => void odd.push(why),
  })
  await channel.handOver()
  return { odd, endings }
}

test("a host that goes on saying what no host says is not listened to for a while", async () => {
  const flood = "x\n".repeat(20_000)
  const { odd, endings } = await heard(flood, end("soon"), 10_000, `rest\n${end("later")}`)

  expect(odd.length).toBeLessThan(20)
  expect(odd.at(-1)).toContain("ignored")
  expect(endings).toBe(1)
})

test("a newer host, which says now and then what is not known here, is listened to", async () => {
  const odd = Array.from({ length: 30 }, () => ['{"news":{}}\n', 2_000]).flat()

  expect(await heard(...odd, end("at last"))).toMatchObject({ endings: 1 })
})

test("a message that is too long is told once, and its rest is none", async () => {
  const tooLong = "x".repeat(70_000)

  expect(await heard(end("before"), tooLong, tooLong, end("the rest"), end("after"))).toEqual({
    odd: ["a message that is too long"],
    endings: 2,
  })
  expect(await heard(`${tooLong}${end("the rest")}${end("after")}`)).toEqual({
    odd: ["a message that is too long"],
    endings: 1,
  })
})
