import { existsSync } from "node:fs"
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { packageFolder } from "./package-folder.ts"
import { run, type Step } from "./steps.ts"

/** Older servers ignore what the fleet relies on, and say nothing. */
const oldest = [2, 12] as const

const folder = packageFolder("nats-server")
const program = join(folder, "usr", "sbin", "nats-server")
const sources = "/etc/apt/sources.list.d/debian.sources"

/** The engine of a fleet, to test with; null where it could not be had. */
export function natsServer(): string | null {
  return existsSync(program) ? program : null
}

/**
 * Debian's release has an older one. The one of `sid` is fetched with the machine's own sources, so
 * that apt checks its signature, and unpacked in a folder of its own: nothing is installed.
 */
export const fetchNatsServer: Step = {
  name: "nats-server",
  run: async () => {
    if (natsServer() === null && existsSync(sources) && Bun.which("apt-get") !== null) await fetch()
    if (natsServer() === null) console.warn("missing, its tests are skipped: nats-server >= 2.12")
    return 0
  },
}

async function fetch(): Promise<void> {
  await mkdir(dirname(folder), { recursive: true })
  const building = await mkdtemp(`${folder}-`)
  try {
    for (const part of ["lists/partial", "cache/archives/partial", "sources"]) {
      await mkdir(join(building, part), { recursive: true })
    }
    await writeFile(join(building, "sources", "sid.sources"), await sidSources())
    const apt = [
      "-o=Dir::Etc::SourceList=/dev/null",
      `-o=Dir::Etc::SourceParts=${join(building, "sources")}`,
      `-o=Dir::State::Lists=${join(building, "lists")}`,
      `-o=Dir::Cache=${join(building, "cache")}`,
      "-o=APT::Sandbox::User=root",
      "-qq",
    ]
    if ((await run(["apt-get", ...apt, "update"])) !== 0) return
    if ((await run(["apt-get", ...apt, "download", "nats-server"], {}, building)) !== 0) return
    const archive = (await readdir(building)).find((name) => name.endsWith(".deb"))
    const unpacked = join(building, "unpacked")
    if (archive === undefined) return
    if ((await run(["dpkg", "-x", join(building, archive), unpacked])) !== 0) return
    if (!isNewEnough(join(unpacked, "usr", "sbin", "nats-server"))) return
    if (!existsSync(folder)) await rename(unpacked, folder)
  } finally {
    await rm(building, { recursive: true, force: true })
  }
}

/** The stanzas of the release, and not those of its security updates, for the suite `sid`. */
async function sidSources(): Promise<string> {
  const stanzas = (await readFile(sources, "utf8")).split(/\n\s*\n/)
  return stanzas
    .filter((stanza) => /^Suites:/m.test(stanza) && !/^Suites:.*-security/m.test(stanza))
    .map((stanza) => stanza.replace(/^Suites:.*$/m, "Suites: sid"))
    .join("\n\n")
}

function isNewEnough(path: string): boolean {
  const said = Bun.spawnSync([path, "--version"]).stdout.toString()
  const [, major = "0", minor = "0"] = /v(\d+)\.(\d+)/.exec(said) ?? []
  const isNewer = Number(major) > oldest[0]
  return isNewer || (Number(major) === oldest[0] && Number(minor) >= oldest[1])
}
