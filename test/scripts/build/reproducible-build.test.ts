import { describe, expect } from "bun:test"
import { cpSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { sha256 } from "../../../scripts/build/sha256.ts"
import { temporaryFolder } from "../../support/temporary-folder.ts"
import { testUnless } from "../../support/test-unless.ts"

const root = join(import.meta.dir, "../../..")
const facts = { CC_EXECUTOR_BUILD_COMMIT: "0123456789ab", SOURCE_DATE_EPOCH: "1700000000" }

describe("two builds of the same sources", () => {
  const switched = process.env["TEST_RELEASE"] === "1"
  testUnless(
    switched ? null : "set TEST_RELEASE=1",
    "are the same bytes, in other folders, at other times, for other users",
    async () => {
      using folder = temporaryFolder()
      const one = await build(join(folder.path, "a"), { TZ: "UTC", LANG: "C" })
      const home = join(folder.path, "home")
      mkdirSync(home)
      const elsewhere = { TZ: "Asia/Tokyo", LANG: "de_DE.UTF-8", HOME: home, TMPDIR: home }
      const other = await build(join(folder.path, "a-folder/much further/down"), elsewhere)

      expect(other).toEqual(one)
      expect(one.version).toContain('"commit":"0123456789ab","built":"2023-11-14T22:13:20Z"')
    },
    120_000,
  )
})

/** Copies what is under version control, or could be, and builds the copy as a user would. */
async function build(folder: string, env: Record<string, string>) {
  mkdirSync(folder, { recursive: true })
  const listed = await succeed(["git", "ls-files", "-z", "-co", "--exclude-standard"], root, {})
  for (const file of listed.split("\0")) {
    if (/^(?:src|scripts)\/|^(?:package\.json|bun\.lock|bunfig\.toml|tsconfig\.json)$/.test(file)) {
      cpSync(join(root, file), join(folder, file))
    }
  }
  await succeed([process.execPath, "install", "--frozen-lockfile", "--production"], folder, {})
  await succeed([process.execPath, "scripts/build.ts"], folder, { ...env, ...facts })
  const program = join(folder, "dist/cc-executor")
  return {
    program: await sha256(program),
    bill: await sha256(`${program}.cdx.json`),
    version: await succeed([program, "version", "--json"], folder, {}),
  }
}

async function succeed(
  command: string[],
  cwd: string,
  env: Record<string, string>,
): Promise<string> {
  const child = Bun.spawn(command, {
    cwd,
    env: { ...process.env, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  })
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")}: ${stdout}${stderr}`)
  return stdout
}
