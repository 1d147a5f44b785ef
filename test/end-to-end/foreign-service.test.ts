import { describe, expect, setDefaultTimeout } from "bun:test"
import { chmodSync, lstatSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { ForeignListener } from "../support/foreign-listener.ts"
import { linesOf, OwnersHome } from "../support/owners-home.ts"
import { each, faultsOf } from "../support/planted-cases.ts"
import { asUser, filesOf, giveAway, owner, secret, stranger } from "../support/planted-state.ts"
import { byScale } from "../support/scale.ts"
import { isRunning } from "../support/service.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { notRoot, testUnless } from "../support/test-unless.ts"

setDefaultTimeout(60_000)

describe("a state directory of another user, whose service has ended", () => {
  testUnless(notRoot, "is left as it is by root, and its owner goes on", async () => {
    using home = new OwnersHome()
    const id = await home.fill()
    const before = look(home.stateDir)

    const listed = await home.use(["ps", "-a"], home.stateDir, 0)
    const audit = await home.use(["audit"], home.stateDir, 0)
    const after = look(home.stateDir)
    const own = await home.use(["logs", id], home.stateDir, owner)

    expect(listed.exitCode).toBe(1)
    expect(listed.stderr).toContain(`only its owner, user ${owner}, can start one`)
    expect(listed.stderr).toContain(`setpriv --reuid=${owner} --regid=${owner}`)
    expect(audit.stdout).toContain("service ended")
    expect(after).toEqual(before)
    expect(own).toMatchObject({ exitCode: 0, stdout: "hi\n" })
    await home.use(["stop"], home.stateDir, owner)
  })
})

describe("a service of another user", () => {
  testUnless(
    notRoot,
    "serves root by its socket, gets nothing of its shell, and stops",
    async () => {
      using home = new OwnersHome()
      await home.use(["run", "--", "true"], home.stateDir, owner)
      const { pid } = JSON.parse(readFileSync(join(home.stateDir, "lock"), "utf8"))

      const ran = await home.use(["run", "--", "sh", "-c", "id -u; env"], home.stateDir, 0)
      const listed = await home.use(["ps", "-a", "-q"], home.stateDir, 0)
      const left = filesOf(home.stateDir, 0)
      const stopped = await home.use(["stop"], home.stateDir, 0)

      expect(ran.exitCode).toBe(0)
      expect(ran.stdout).toStartWith(`${owner}\n`)
      expect(ran.stdout).not.toContain(secret)
      expect(listed.stdout.trim().split("\n")).toHaveLength(2)
      expect(left).toEqual([])
      expect(stopped.stderr).toBe(`The service (pid ${pid}) has ended.\n`)
      expect(isRunning(pid)).toBe(false)
    },
  )
})

describe("a listener where the service's should be", () => {
  const lines = [["run", "--", "true"], ["ps"], ["healthcheck"], ["mcp"], ["cancel", "abcdefgh"]]

  testUnless(notRoot, "of a third user's is sent nothing", async () => {
    using home = new OwnersHome()
    using copy = home.copy()
    chmodSync(copy.stateDir, 0o777)
    const path = join(copy.stateDir, "gateway.sock")
    await using foreign = new ForeignListener(path, stranger, "silent")
    await foreign.ready()

    for (const isGiven of [false, true]) {
      // Whose the file is says nothing about who listens.
      if (isGiven) giveAway(path)
      for (const line of lines) {
        const { stdout, stderr } = await home.use(line, copy.stateDir, 0)
        expect(stdout + stderr).toContain(isGiven ? `User ${stranger} listens` : "belongs to user")
      }
    }
    expect(foreign.heard).toBe("ready\n")
  })

  for (const manner of ["silent", "polite"] as const) {
    testUnless(
      notRoot,
      `of the owner's, ${manner}, keeps root waiting with no command`,
      async () => {
        using home = new OwnersHome()
        using copy = home.copy()
        const { stateDir } = copy
        await using foreign = new ForeignListener(join(stateDir, "gateway.sock"), owner, manner)
        await foreign.ready()

        const all = Object.values(linesOf("abcdefgh")).flat()
        // How long an answer to a request may take is for the MCP client to say.
        const fit = all.filter(([name]) => manner === "silent" || name !== "mcp")
        // A short run tries one in three, with each manner others, and always `run`.
        const share = byScale({ short: 3, full: 1, long: 1 })
        const nth = (manner === "silent" ? 1 : 2) % share
        const tried = fit.filter(([name], at) => at % share === nth || name === "run")
        await each(tried, async (line) => {
          const finished = await home.use(line, stateDir, 0)
          expect({ line, faults: faultsOf(finished) }).toEqual({ line, faults: [] })
          if (line[0] === "run") {
            expect(finished.stderr).toContain("does not answer as a service does")
          }
        })
        expect(foreign.heard).toContain("GET /ws/mcp")
        expect(foreign.heard).not.toContain(secret)
        expect(foreign.heard).not.toContain("ROOTS_SECRET")
        expect(filesOf(stateDir, 0)).toEqual([])
      },
    )
  }
})

describe("a link of one's own to a state directory", () => {
  testUnless(notRoot, "is followed, for its owner and for root", async () => {
    using home = new OwnersHome()
    using folder = temporaryFolder()
    chmodSync(folder.path, 0o755)
    giveAway(folder.path)
    chmodSync(folder.path, 0o755)
    const link = join(folder.path, "state")
    Bun.spawnSync([...asUser(owner), "ln", "-s", home.stateDir, link])

    const ran = await home.use(["run", "--", "echo", "by link"], link, owner)
    const listed = await home.use(["ps", "-a"], link, 0)
    await home.use(["stop"], link, owner)

    expect(ran).toMatchObject({ exitCode: 0, stdout: "by link\n" })
    expect(listed.stdout).toContain("echo")
    rmSync(link)
  })
})

/** Every entry, with what would change if somebody touched it. */
function look(directory: string): string[] {
  return readdirSync(directory)
    .toSorted()
    .map((name) => {
      const { uid, mode, size, ino, mtimeMs } = lstatSync(join(directory, name))
      return [name, uid, mode, size, ino, mtimeMs].join(" ")
    })
}
