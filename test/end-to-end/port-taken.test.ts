import { expect, test } from "bun:test"
import { Service } from "../support/service.ts"

test("a port belongs to one service: a second one refuses to share it", async () => {
  await using first = await Service.start()
  const { port } = await first.listening

  await using second = new Service({ flags: { port } })

  expect(await second.exited).toBe(1)
  expect(second.said.join("\n")).toContain(`port ${port} is in use by another program`)
})
