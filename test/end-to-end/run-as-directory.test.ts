import { afterAll, beforeAll, expect } from "bun:test"
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { admitted } from "../support/admitted.ts"
import { describeAContainment } from "../support/each-containment.ts"
import { Service } from "../support/service.ts"
import { notRoot, testUnless } from "../support/test-unless.ts"

const uid = 65534
const folder = mkdtempSync(join(tmpdir(), "cc-executor-run-as-"))
const own = join(folder, "own")
const noProgram = join(folder, "no-program")

beforeAll(() => {
  chmodSync(folder, 0o755)
  mkdirSync(own, { mode: 0o700 })
  if (notRoot === null) chownSync(own, uid, uid)
  symlinkSync(own, join(folder, "link"))
  writeFileSync(noProgram, "\0")
  chmodSync(noProgram, 0o755)
})
afterAll(() => rmSync(folder, { recursive: true }))

describeAContainment("the directory of a child that runs as another user", (containment) => {
  const asRoot = (behaviour: string, run: () => Promise<void>) =>
    testUnless(notRoot, behaviour, run, 30_000)
  const flags = { containment, "run-as": `${uid}:${uid}` }

  asRoot("is known to it, and recorded, by its real path", async () => {
    await using service = await Service.start({ flags, cwd: "/" })
    using client = await admitted(service)
    const { session } = client
    const argv = ["sh", "-c", "pwd -P; pwd; readlink /proc/self/cwd"]

    for (const cwd of [own, join(folder, "link")]) {
      const piped = await session.run({ argv, cwd })
      const typed = await session.run({ argv, cwd, terminal: { cols: 200, rows: 24 } })
      const { cwd: recorded } = await session.call("status", { execution_id: piped.id })

      expect(piped.stdout).toBe(`${own}\n`.repeat(3))
      expect(typed.stdout).toBe(`${own}\r\n`.repeat(3))
      expect(recorded).toBe(own)
    }
  })

  asRoot("is held open neither while it runs nor when it cannot start", async () => {
    await using service = await Service.start({ flags, cwd: "/" })
    using client = await admitted(service)
    const { session } = client

    const refused = await session.refused("execute", { argv: [noProgram], cwd: own })
    const { stdout } = await session.run({ argv: ["ls", "-l", "/proc/self/fd"], cwd: own })
    await session.call("execute", { argv: ["sleep", "300"], cwd: own })

    expect(refused).toMatchObject({ data: { reason: "SPAWN_FAILED", errno: "ENOEXEC" } })
    expect(stdout).not.toContain(own)
    const descriptors = `/proc/${service.lockedBy}/fd`
    const open = readdirSync(descriptors).map((fd) => readlinkSync(join(descriptors, fd)))
    expect(open).not.toContain(own)
    expect(open).not.toContain("/")
  })
})
