import { expect, test } from "bun:test"
import { join } from "node:path"

const fixture = join(import.meta.dir, "../../fixtures/become-next-program.ts")

test.each([
  ["SIGTERM", "SIGTERM umask 27\n"],
  ["SIGINT", "SIGINT umask 27\n"],
  ["none", "umask 27\n"],
])("%s in the last moment before a program changes reaches the next one", async (signal, said) => {
  const child = Bun.spawn([process.execPath, fixture, signal], { stdout: "pipe" })

  expect(await child.stdout.text()).toBe(said)
  expect(await child.exited).toBe(0)
})
