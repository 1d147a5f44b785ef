import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs"
import { dirname, join } from "node:path"
import { readStat } from "../../src/service/os/proc.ts"
import { stateEntriesOf, statePathsIn } from "../../src/service/storage/state-paths.ts"
import { temporaryFolder } from "./temporary-folder.ts"

/** Who owns the state directories of these tests, and who has nothing to do with them. */
export const owner = 12_345
export const stranger = 12_346
export const secret = "only root may read this"

export function asUser(uid: number): string[] {
  return ["setpriv", `--reuid=${uid}`, `--regid=${uid}`, "--clear-groups"]
}

/** What is root's alone, and a process of root's that ends by any signal. */
export class RootsOwn implements AsyncDisposable {
  readonly #folder = temporaryFolder()
  readonly #process = Bun.spawn(["sleep", "infinity"], { stdio: ["ignore", "ignore", "ignore"] })
  readonly file = join(this.#folder.path, "file")
  readonly directory = join(this.#folder.path, "directory")

  constructor() {
    writeFileSync(this.file, secret, { mode: 0o600 })
    mkdirSync(this.directory)
    for (const name of ["00000001.jsonl", "00000000.seg", "lock", "tokens.json"]) {
      writeFileSync(join(this.directory, name), secret, { mode: 0o600 })
    }
  }

  /** Everything that must be the same afterwards. */
  look(): string {
    const names = readdirSync(this.directory).map((name) => join(this.directory, name))
    const lines = [this.file, this.directory, ...names].map((path) => {
      const { uid, gid, mode, size, mtimeMs } = statSync(path)
      const text = path === this.directory ? "" : readFileSync(path, "utf8")
      return [path, uid, gid, mode, size, mtimeMs, text].join(" ")
    })
    const isAlive = this.#process.exitCode === null && this.#process.signalCode === null
    return [...lines, `process ${isAlive ? "lives" : "was ended"}`].join("\n")
  }

  get process(): { pid: number; startTicks: number } {
    const { pid } = this.#process
    return { pid, startTicks: readStat(pid)?.startTicks ?? 0 }
  }

  /** What a lock says that claims to be this process's. */
  get claim(): string {
    const { pid, startTicks } = this.process
    const at = new Date().toISOString()
    return JSON.stringify({ pid, startTicks, version: "1", startedAt: at, upgrades: true })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill("SIGKILL")
    await this.#process.exited
    this.#folder[Symbol.dispose]()
  }
}

type Plant = (path: string, roots: RootsOwn, name: string) => void

export const plants: Readonly<Record<string, Plant>> = {
  "a link to root's file": (path, roots) => symlinkSync(roots.file, path),
  "a link to a directory": (path, roots) => symlinkSync(roots.directory, path),
  "a named pipe": (path) => run(["mkfifo", "-m", "600", path]),
  "a socket": (path) => run(["/usr/bin/python3", "-c", bind, path]),
  "a directory": (path) => mkdirSync(path, { mode: 0o700 }),
  "a huge file": (path) => {
    writeFileSync(path, "", { mode: 0o600 })
    truncateSync(path, 2 ** 40)
  },
  "hostile content": (path, roots, name) =>
    writeFileSync(path, contentFor(name, roots), { mode: 0o600 }),
}

const bind = "import socket,sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])"

/** What looks as if it belonged there, and would do harm to whoever believes it. */
function contentFor(name: string, roots: RootsOwn): string {
  const { pid, startTicks } = roots.process
  const base = name.replace(/\.new$/, "")
  if (base.startsWith("journal.sqlite")) return `SQLite format 3\0${"\xff".repeat(4096)}`
  if (base.endsWith(".seg")) return `cctrans\x01${"\xff".repeat(4096)}`
  if (base.endsWith(".jsonl")) return '{"number":1,"time":"2026-01-01T00:00:00.000Z","hash":"0"}\n'
  if (base === "schema.json") return JSON.stringify({ schema: 2 ** 40, written_by: "x" })
  if (base === "trees.json") {
    const gateway = { pid, startTicks }
    const seen = { ["a".repeat(26)]: [gateway] }
    return JSON.stringify({ world: worldNow(), cgroupBase: "/sys/fs/cgroup", gateway, seen })
  }
  if (base === "tokens.json") {
    return JSON.stringify({ version: 1, tokens: [{ id: "aaaaaaaaaa", scopes: ["admin"] }] })
  }
  if (base === "receipt-key.pem") {
    return "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
  }
  if (base === "upgrade-request.json") {
    const asker = { pid, startTicks }
    return JSON.stringify({ upgrade: "x", program: [roots.file], asker, takeOverMs: 1 })
  }
  if (base === "upgrade-report.json") return JSON.stringify({ upgrade: "x", phase: "done", pid })
  return roots.claim
}

/** Else nobody believes what is said of processes: see `tree-memory.ts`. */
function worldNow(): string {
  const boot = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim()
  return `${boot} ${readlinkSync("/proc/self/ns/pid")}`
}

/** Every name that a state directory knows, and those of what is in its directories. */
export function everyName(executionId: string): string[] {
  const { files, directories, sockets } = stateEntriesOf(statePathsIn("/"))
  const inside = [
    "/audit/00000001.jsonl",
    "/audit/00000001.damaged-1.jsonl",
    `/transcripts/${executionId}`,
    `/transcripts/${executionId}/00000000.seg`,
    "/service.log.1",
    "/service.log.2",
  ]
  return [...files, ...directories, ...sockets, ...inside].map((path) => path.slice(1))
}

/** Puts something else in the place of one name of a state directory. */
export function plant(stateDir: string, name: string, kind: string, roots: RootsOwn): void {
  const path = join(stateDir, name)
  rmSync(path, { recursive: true, force: true })
  mkdirSync(dirname(path), { recursive: true })
  const put = plants[kind]
  if (put === undefined) throw new Error(`There is no such thing to plant: ${kind}`)
  put(path, roots, name)
  giveAway(stateDir)
}

/** The same where a service is running, which gets back what was there. */
export function plantForNow(
  stateDir: string,
  name: string,
  kind: string,
  roots: RootsOwn,
): Disposable {
  const path = join(stateDir, name)
  const aside = `${path}.aside`
  const wasThere = existsSync(path)
  if (wasThere) renameSync(path, aside)
  plant(stateDir, name, kind, roots)
  const planted = lstatSync(path)
  return {
    [Symbol.dispose]() {
      // Another socket is the service's own, which listens anew meanwhile.
      const now = lstatSync(path, { throwIfNoEntry: false })
      if (now?.isSocket() && now.ctimeMs !== planted.ctimeMs) {
        rmSync(aside, { force: true })
        return
      }
      // The service may have replaced it.
      rmSync(path, { recursive: true, force: true })
      if (wasThere) renameSync(aside, path)
    },
  }
}

/** Without a look at what links lead to. */
export function giveAway(path: string, uid = owner): void {
  const stat = lstatSync(path)
  if (stat.isSymbolicLink()) return lchownSync(path, uid, uid)
  chownSync(path, uid, uid)
  if (!stat.isDirectory()) return
  chmodSync(path, 0o700)
  for (const name of readdirSync(path)) giveAway(join(path, name), uid)
}

/** What a user has left in a directory of somebody else's; what links lead to is not in it. */
export function filesOf(path: string, uid: number): string[] {
  const stat = lstatSync(path)
  const inside = stat.isDirectory()
    ? readdirSync(path).flatMap((name) => filesOf(join(path, name), uid))
    : []
  return stat.uid === uid ? [path, ...inside] : inside
}

function run(argv: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(argv)
  if (exitCode !== 0) throw new Error(`${argv[0]}: ${stderr.toString()}`)
}
