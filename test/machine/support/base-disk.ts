import { existsSync, readdirSync, readFileSync } from "node:fs"
import { chmod, cp, mkdir, mkdtemp, rename, rm, symlink } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"
import { z } from "zod"
import { must } from "./must.ts"

export type BaseDisk = { image: string; kernel: string; initialRamDisk: string }

const release = "bookworm"

const packages = [
  "systemd",
  "systemd-sysv",
  "libpam-systemd", // sessions, and so a service manager for each user
  "dbus",
  "udev",
  "kmod",
  "procps",
  "linux-image-cloud-amd64",
]

const sizeBytes = 3 * 2 ** 30 // sparse: what is not used takes no room

const files = { runner: fileHere("runner.sh"), unit: fileHere("runner.service") }

/**
 * A disk with Debian, its kernel, and a runner of commands. It takes two minutes and some 500 MB of
 * packages and room, so it is kept for the next time, by all that went into it.
 */
export async function baseDisk(): Promise<BaseDisk> {
  const folder = keptIn()
  if (!existsSync(folder)) await makeIn(folder)
  const path = (name: string) => join(folder, name)
  return { image: path("disk.img"), kernel: path("kernel"), initialRamDisk: path("initrd") }
}

/** Why none can be made here, or null. */
export async function noBaseDisk(): Promise<string | null> {
  if (existsSync(keptIn())) return null
  const list = `${mirror()}/dists/${release}/InRelease`
  const answer = fetch(list, { method: "HEAD", signal: AbortSignal.timeout(10_000) })
  const reached = await answer.then(({ ok }) => ok).catch(() => false)
  return reached ? null : `needs a mirror of Debian: ${mirror()} does not answer`
}

function keptIn(): string {
  const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache")
  return join(cache, "cc-executor-test-tools", `machine-${recipeHash()}`)
}

function recipeHash(): string {
  const recipe = [readFileSync(import.meta.path), ...Object.values(files).map(readText)]
  const hash = new Bun.CryptoHasher("sha256")
  for (const part of recipe) hash.update(part)
  return hash.digest("hex").slice(0, 12)
}

async function makeIn(folder: string): Promise<void> {
  await mkdir(join(folder, ".."), { recursive: true })
  const half = await mkdtemp(`${folder}.`)
  await using cleanup = new AsyncDisposableStack()
  cleanup.defer(() => rm(half, { recursive: true, force: true }))
  const root = join(half, "root")
  // In a namespace of its own: what it mounts in that folder must not be there when it is removed.
  const debootstrap = ["unshare", "--mount", "debootstrap", "--variant=minbase"]
  await must([...debootstrap, `--include=${packages.join(",")}`, release, root, mirror()])
  await addRunner(root)
  for (const [name, kept] of bootFiles(root)) await cp(join(root, "boot", name), join(half, kept))
  await must(["truncate", `--size=${sizeBytes}`, join(half, "disk.img")])
  await must(["mke2fs", "-q", "-t", "ext4", "-d", root, join(half, "disk.img")])
  await rm(root, { recursive: true })
  // Two runs may have made one at the same time: either will do.
  if (!existsSync(folder)) await rename(half, folder)
}

async function addRunner(root: string): Promise<void> {
  const program = join(root, "usr/local/sbin/test-runner")
  const units = join(root, "etc/systemd/system")
  await cp(files.runner, program)
  await chmod(program, 0o755)
  await cp(files.unit, join(units, "test-runner.service"))
  const wanted = join(units, "multi-user.target.wants")
  await mkdir(wanted, { recursive: true })
  await symlink("../test-runner.service", join(wanted, "test-runner.service"))
}

/** The kernel and its first file system, whose names have its version. */
function bootFiles(root: string): [name: string, kept: string][] {
  const names = readdirSync(join(root, "boot"))
  const one = (prefix: string) => z.string().parse(names.find((name) => name.startsWith(prefix)))
  return [
    [one("vmlinuz-"), "kernel"],
    [one("initrd.img-"), "initrd"],
  ]
}

/** Where this machine's own packages come from if that is Debian, else Debian's own address. */
function mirror(): string {
  const texts = ["/etc/apt/sources.list.d/debian.sources", "/etc/apt/sources.list"].map(readText)
  const address = /^(?:URIs:|deb(?: \[.*?\])?) *(https?:\S+\/debian)\/?\s/m
  const own = texts.map((text) => address.exec(text)?.[1]).find(Boolean)
  return own ?? "http://deb.debian.org/debian"
}

function fileHere(name: string): string {
  return join(import.meta.dir, name)
}

function readText(path: string): string {
  return existsSync(path) ? readFileSync(path, "utf8") : ""
}
