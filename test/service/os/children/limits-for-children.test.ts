import { describe, expect } from "bun:test"
import { closeSync, openSync } from "node:fs"
import { heldByNothing } from "../../../../src/execution/spec.ts"
import { limitsForChildren } from "../../../../src/service/os/children/limits-for-children.ts"
import { withRlimits } from "../../../../src/service/os/children/rlimits.ts"
import { getRlimit, RLIMIT_NOFILE } from "../../../../src/service/os/libc.ts"
import { testUnless } from "../../../support/test-unless.ts"

const own = getRlimit(process.pid, RLIMIT_NOFILE)
const manyFiles = 1100
const tooLow = (own?.soft ?? 0n) < 2048n ? "needs more than 2048 open files" : null

/** The limits that a child has: soft, then hard. */
function childsOpenFiles(): string[] {
  using limits = limitsForChildren()
  const launch = {
    argv: ["/bin/sh", "-c", "ulimit -Sn; ulimit -Hn"],
    argv0: null,
    limits: { memoryBytes: null, cpus: null, pids: null },
    limitsHeldBy: heldByNothing,
  }
  const { argv } = withRlimits(launch, limits.openFiles)
  return Bun.spawnSync([...argv])
    .stdout.toString()
    .trim()
    .split("\n")
}

describe("the limit of open files that a child has", () => {
  testUnless(tooLow, "is one that select() can bear, and may be raised again", async () => {
    expect(childsOpenFiles()).toEqual(["1024", String(own?.hard)])
    expect(getRlimit(process.pid, RLIMIT_NOFILE)).toEqual(own)
  })

  testUnless(tooLow, "is the same where the service itself has more open", async () => {
    const files = Array.from({ length: manyFiles }, () => openSync("/dev/null", "r"))

    const limits = childsOpenFiles()
    for (const fd of files) closeSync(fd)

    expect(limits).toEqual(["1024", String(own?.hard)])
  })
})
