import { describe, expect } from "bun:test"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { testUnless } from "../support/test-unless.ts"

const root = join(import.meta.dir, "../..")
const libraries = "/usr/aarch64-linux-gnu" // of Debian's libc6-arm64-cross

// What is built for other processors than this one. Under emulation it is only seen to start and
// to answer: no service has run there, and no process tree was held together.
describe("an executable for another processor, emulated", () => {
  testUnless(
    obstacle("cc-executor-linux-arm64", "qemu-aarch64-static", [libraries]),
    "starts, and says what it is: arm64",
    async () => {
      const emulator = ["qemu-aarch64-static", "-L", libraries]
      expect(await version(emulator, "cc-executor-linux-arm64")).toMatchObject({
        platform: "linux-arm64",
        bun: Bun.version,
      })
    },
  )

  testUnless(
    obstacle("cc-executor-linux-x64-baseline", "qemu-x86_64-static", []),
    "starts, and says what it is: x64 without AVX2",
    async () => {
      const emulator = ["qemu-x86_64-static", "-cpu", "Nehalem"]
      expect(await version(emulator, "cc-executor-linux-x64-baseline")).toMatchObject({
        platform: "linux-x64",
        bun: Bun.version,
      })
    },
  )
})

function obstacle(program: string, emulator: string, files: string[]): string | null {
  if (process.env["TEST_RELEASE"] !== "1") return "set TEST_RELEASE=1"
  if (!existsSync(join(root, "dist", program))) return "run `bun run build:all` before"
  if (Bun.which(emulator) === null) return `${emulator} is missing: Debian's qemu-user-static`
  const missing = files.find((file) => !existsSync(file))
  return missing === undefined ? null : `${missing} is missing: Debian's libc6-arm64-cross`
}

async function version(emulator: string[], program: string): Promise<unknown> {
  const command = [...emulator, join(root, "dist", program), "version", "--json"]
  const child = Bun.spawn(command, { stdin: "ignore", stdout: "pipe", stderr: "inherit" })
  const said = await child.stdout.text()
  expect(await child.exited).toBe(0)
  return JSON.parse(said)
}
