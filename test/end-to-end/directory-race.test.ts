import { expect } from "bun:test"
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
import { z } from "zod"
import { isErrno } from "../../src/lib/errno.ts"
import { admitted } from "../support/admitted.ts"
import { describeAContainment } from "../support/each-containment.ts"
import { NameSwapper, noSwapper } from "../support/name-swapper.ts"
import type { RawSession } from "../support/raw-session.ts"
import { byScale } from "../support/scale.ts"
import { Service } from "../support/service.ts"
import { notRoot, testUnless } from "../support/test-unless.ts"

const uid = 65534
const rounds = byScale({ short: 6, full: 40, long: 400 })
const atOnce = 10

/** Where a child may start, where it may not, and a place in which names can be exchanged. */
class Ground implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), "cc-executor-race-"))
  readonly work = this.directory("work")
  readonly closed = this.directory("closed")

  constructor() {
    chmodSync(this.folder, 0o755)
    this.file("closed/inner", "SECRET")
    chmodSync(this.closed, 0o700)
  }

  directory(name: string): string {
    const path = join(this.folder, name)
    mkdirSync(path, { recursive: true })
    return path
  }

  file(directory: string, text: string): void {
    writeFileSync(join(this.directory(directory), "file"), text)
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true })
  }
}

type Tally = { fine: number; refused: number; secrets: number }

/** Reads the file of a directory again and again, mostly after a wait in the queue. */
async function readAgainAndAgain(session: RawSession, cwd: string): Promise<Tally> {
  const tally = { fine: 0, refused: 0, secrets: 0 }
  for (let round = 0; round < rounds; round += 1) {
    const terminal = round % 4 === 0 ? { cols: 80, rows: 24 } : undefined
    const params = { argv: ["cat", "file"], cwd, terminal }
    const asked = Array.from({ length: atOnce }, () => session.request("execute", params))
    const texts = await Promise.all(asked.map((id) => textOf(session, id)))
    for (const text of texts) {
      if (text.includes("SECRET")) tally.secrets += 1
      else if (text.includes("FINE")) tally.fine += 1
      else tally.refused += 1
    }
  }
  return tally
}

async function textOf(session: RawSession, request: number): Promise<string> {
  const answer = await session.response(request)
  if ("error" in answer) return ""
  const { execution_id: id } = z.object({ execution_id: z.string() }).parse(answer.result)
  await session.heard("process.completed", id)
  const output = session.allHeard("process.output", id)
  return output.map(({ data }) => data).join("")
}

/** Nothing, of a descriptor that was closed meanwhile. */
function targetOf(descriptor: string): string {
  try {
    return readlinkSync(descriptor)
  } catch (error) {
    if (isErrno(error, "ENOENT")) return ""
    throw error
  }
}

function openDirectories({ lockedBy }: Service): string[] {
  const folder = `/proc/${lockedBy}/fd`
  const targets = readdirSync(folder).map((fd) => targetOf(join(folder, fd)))
  return targets.filter((target) => target.includes("cc-executor-race-"))
}

async function attacked(
  flags: Record<string, string>,
  cwd: string,
  names: readonly [string, string],
  swapAs: number | null,
): Promise<Tally & { open: string[] }> {
  const all = { "max-executions": "2", ...flags }
  await using service = await Service.start({ flags: all, cwd: "/" })
  using client = await admitted(service)
  await using _swapper = await NameSwapper.start(names, swapAs)
  const tally = await readAgainAndAgain(client.session, cwd)
  return { ...tally, open: openDirectories(service) }
}

function expectNoSecret({ secrets, open, ...others }: Awaited<ReturnType<typeof attacked>>) {
  expect({ secrets, open }).toEqual({ secrets: 0, open: [] })
  // Else nothing was raced at all.
  expect(others.fine).toBeGreaterThan(0)
  expect(others.refused).toBeGreaterThan(0)
}

describeAContainment("whoever exchanges names while a child is started", (containment) => {
  const asRoot = (behaviour: string, run: () => Promise<void>) =>
    testUnless(notRoot ?? noSwapper, behaviour, run, 60_000)
  const flags = { containment, "run-as": `${uid}:${uid}` }

  asRoot("gets, by a link, no child into a directory closed to its user", async () => {
    using ground = new Ground()
    ground.file("open", "FINE")
    const names = [join(ground.work, "one"), join(ground.work, "other")] as const
    symlinkSync(join(ground.folder, "open"), names[0])
    symlinkSync(join(ground.closed, "inner"), names[1])
    chownSync(ground.work, uid, uid)

    expectNoSecret(await attacked(flags, names[0], names, uid))
  })

  asRoot("gets none there by the name of a directory either", async () => {
    using ground = new Ground()
    ground.file("work/one/inner", "FINE")
    ground.file("work/other/inner", "SECRET")
    const names = [join(ground.work, "one"), join(ground.work, "other")] as const
    chmodSync(names[1], 0o700)
    chownSync(ground.work, uid, uid)

    expectNoSecret(await attacked(flags, join(names[0], "inner"), names, uid))
  })

  testUnless(
    noSwapper,
    "gets none out of the policy's directories",
    async () => {
      using ground = new Ground()
      ground.file("work/one/inner", "FINE")
      const names = [join(ground.work, "one"), join(ground.work, "other")] as const
      symlinkSync(ground.closed, names[1])
      const policyFile = join(ground.folder, "policy.yaml")
      writeFileSync(policyFile, `commands:\n  cat: any\ndirectories: [${ground.work}]\n`)
      const policed = { containment, "policy-file": policyFile }

      expectNoSecret(await attacked(policed, join(names[0], "inner"), names, null))
    },
    60_000,
  )
})
