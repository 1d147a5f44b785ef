import { existsSync } from "node:fs"
import { run, type Step } from "./steps.ts"

/** A program that tests drive, by the Debian package that brings it. */
type Needed = { package: string; present: () => boolean }

const alwaysNeeded: Needed[] = [
  { package: "python3", present: () => existsSync("/usr/bin/python3") },
  { package: "python3-websockets", present: () => pythonImports("websockets") },
  { package: "tmux", present: () => onPath("tmux") },
  { package: "util-linux", present: () => onPath("setsid", "script", "flock", "unshare") },
  { package: "procps", present: () => onPath("ps", "pgrep") },
  { package: "openssl", present: () => onPath("openssl") },
  { package: "iproute2", present: () => onPath("ip") },
  { package: "curl", present: () => onPath("curl") },
  { package: "jq", present: () => onPath("jq") },
  { package: "make", present: () => onPath("make") },
  { package: "git", present: () => onPath("git") },
  { package: "sqlite3", present: () => onPath("sqlite3") },
  { package: "pv", present: () => onPath("pv") },
  { package: "chromium", present: () => onPath("chromium") },
  { package: "shellcheck", present: () => onPath("shellcheck") },
  { package: "busybox", present: () => onPath("busybox") },
  { package: "zsh", present: () => onPath("zsh") },
  { package: "fish", present: () => onPath("fish") },
  { package: "systemd", present: () => onPath("systemd-analyze") },
]

/** What runs executables for other processors; without the switch their tests are skipped. */
const emulators: Needed[] = [
  { package: "qemu-user-static", present: () => onPath("qemu-aarch64-static") },
  { package: "libc6-arm64-cross", present: () => existsSync("/usr/aarch64-linux-gnu") },
]

const debianKeys = "/usr/share/keyrings/debian-archive-keyring.gpg"

/** What makes a whole machine to test on; without the switch its tests are skipped. */
const machineMakers: Needed[] = [
  { package: "qemu-system-x86", present: () => onPath("qemu-system-x86_64") },
  { package: "debootstrap", present: () => onPath("debootstrap") },
  { package: "debian-archive-keyring", present: () => existsSync(debianKeys) },
  { package: "e2fsprogs", present: () => onPath("mke2fs") },
]

/** An engine for the container images; without the switch their tests are skipped. */
const imageMakers: Needed[] = [
  { package: "docker.io", present: () => existsSync("/usr/sbin/dockerd") },
  { package: "docker-compose", present: () => existsSync("/usr/bin/docker-compose") },
  { package: "mmdebstrap", present: () => existsSync("/usr/bin/mmdebstrap") },
]

/** Asked when it is needed: `--all` sets the switches after this file was loaded. */
function needed(): Needed[] {
  return [
    ...alwaysNeeded,
    ...(process.env["TEST_RELEASE"] === "1" ? emulators : []),
    ...(process.env["TEST_IMAGE"] === "1" ? imageMakers : []),
    ...(process.env["TEST_MACHINE"] === "1" ? machineMakers : []),
  ]
}

/**
 * Installs what is missing where it may (root, apt-get), else names it and goes on: most tests need
 * none of it, and those that do then fail by name.
 */
export const systemPackages: Step = {
  name: "system packages",
  run: async () => {
    const missing = missingPackages()
    if (missing.length === 0) return 0
    if (process.getuid?.() === 0 && onPath("apt-get")) await aptInstall(missing)

    const remaining = missingPackages()
    if (remaining.length > 0) console.warn(`missing, tests may fail: ${remaining.join(", ")}`)
    return 0
  },
}

function missingPackages(): string[] {
  return needed()
    .filter((program) => !program.present())
    .map((program) => program.package)
}

export async function aptInstall(packages: string[]): Promise<void> {
  const env = { DEBIAN_FRONTEND: "noninteractive" }
  await run(["apt-get", "update", "-qq"], env)
  await run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", ...packages], env)
}

function onPath(...programs: string[]): boolean {
  return programs.every((program) => Bun.which(program) !== null)
}

// Debian's own interpreter, by its path: a python3 earlier on PATH does not see apt's packages.
export function pythonImports(module: string): boolean {
  if (!existsSync("/usr/bin/python3")) return false
  const check = ["/usr/bin/python3", "-c", `import ${module}`]
  return Bun.spawnSync(check, { stdio: ["ignore", "ignore", "ignore"] }).exitCode === 0
}
