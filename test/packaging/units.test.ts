import { describe, expect, test } from "bun:test"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { executable } from "../support/service.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { testUnless } from "../support/test-unless.ts"

const units = { system: "cc-executor.service", user: "cc-executor.user.service" }
const obstacle = Bun.which("systemd-analyze") === null ? "systemd-analyze is missing" : null
const highestExposure = 3.5

describe.each(Object.entries(units))("the unit for a %s", (kind, name) => {
  const unit = readFileSync(join(import.meta.dir, "../../packaging", name), "utf8")

  testUnless(obstacle, "is one that systemd understands, every word of it", async () => {
    const { exitCode, said } = await analyze(kind, unit, ["verify"])
    expect({ exitCode, said }).toEqual({ exitCode: 0, said: "" })
  })

  testUnless(obstacle, "is not taken for right when it is not", async () => {
    const wrong = unit.replace("KillMode=mixed", "KillMode=gently")
    expect((await analyze(kind, wrong, ["verify"])).said).toContain("kill mode")
  })

  test("leaves the service what it needs: its cgroups, its JIT, its own way to end", () => {
    for (const line of ["Type=notify", "KillMode=mixed", "Delegate=yes", "OOMPolicy=continue"]) {
      expect(unit).toContain(`\n${line}\n`)
    }
    expect(unit).toContain("\nExecReload=/bin/kill -HUP $MAINPID\n")
    expect(unit).not.toMatch(/^(?:MemoryDenyWriteExecute|ProtectControlGroups)=/m)
  })
})

describe("the unit for a machine", () => {
  testUnless(obstacle, "is exposed no more than systemd's own measure allows", async () => {
    const unit = readFileSync(join(import.meta.dir, "../../packaging", units.system), "utf8")
    const options = ["security", "--offline=true", "--no-pager"]

    const { said } = await analyze("system", unit, options)

    const exposure = /Overall exposure level for \S+ ([\d.]+)/.exec(said)?.[1]
    expect(Number(exposure)).toBeGreaterThan(0)
    expect(Number(exposure)).toBeLessThanOrEqual(highestExposure)
  })
})

/** With the program that was built, since a unit of a program that is not there is wrong. */
async function analyze(kind: string, unit: string, options: string[]) {
  using folder = temporaryFolder()
  const path = join(folder.path, "cc-executor.service")
  writeFileSync(path, unit.replace(/^ExecStart=\S+/m, `ExecStart=${executable}`))
  const runtime = join(folder.path, "run")
  mkdirSync(runtime)
  const command = ["systemd-analyze", ...(kind === "user" ? ["--user"] : []), ...options, path]
  const analysis = Bun.spawn(command, {
    env: { ...process.env, XDG_RUNTIME_DIR: runtime, SYSTEMD_COLORS: "0" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  })
  const [stdout, stderr] = await Promise.all([analysis.stdout.text(), analysis.stderr.text()])
  return { exitCode: await analysis.exited, said: stdout + stderr }
}
