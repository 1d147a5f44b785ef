import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { until } from "../../support/until.ts"
import { Engine } from "./engine.ts"

/**
 * An engine that touches nothing of the machine: files in a temporary folder, no rules of a packet
 * filter, a bridge of its own. Ports are published by its proxy. Without rules a container has no
 * way out of the machine, so builds use the machine's own network.
 */
export async function startOwnEngine(stack: AsyncDisposableStack): Promise<Engine> {
  const folder = await mkdtemp(join(tmpdir(), "cc-executor-engine-"))
  stack.defer(() => removeMounted(folder))
  const bridge = await makeBridge(stack)
  const path = await putProgramsFirst(folder)
  const socket = `unix://${folder}/sock`
  const engine = new Engine({
    PATH: path,
    DOCKER_HOST: socket,
    DOCKER_CONFIG: join(folder, "config"),
    DOCKER_BUILDKIT: "1",
  })
  await startDaemon(stack, folder, ["-H", socket, `--bridge=${bridge}`])
  await until(
    "the engine answers",
    async () => (await engine.run(["docker", "version"])).exitCode === 0,
    60_000,
  )
  return engine
}

/** A daemon that ended leaves the mounts of its namespaces. */
async function removeMounted(folder: string): Promise<void> {
  const mounts = await Bun.file("/proc/self/mounts").text()
  const points = mounts.split("\n").map((line) => line.split(" ")[1] ?? "")
  const below = points.filter((point) => point.startsWith(`${folder}/`)).toReversed()
  for (const point of below) await new Engine({}).must(["umount", point])
  await rm(folder, { recursive: true, force: true })
}

async function makeBridge(stack: AsyncDisposableStack): Promise<string> {
  const name = `ccx${process.pid}`
  const machine = new Engine({})
  await machine.must(["ip", "link", "add", name, "type", "bridge"])
  stack.defer(async () => void (await machine.must(["ip", "link", "del", name])))
  await machine.must(["ip", "addr", "add", "172.30.254.1/24", "dev", name])
  await machine.must(["ip", "link", "set", name, "up"])
  return name
}

/**
 * Documents say `docker compose`, which Debian has as a program of its own; and a `docker build`
 * must be told of the network.
 */
async function putProgramsFirst(folder: string): Promise<string> {
  const bin = join(folder, "bin")
  await mkdir(bin)
  const docker = join(bin, "docker")
  await writeFile(
    docker,
    `#!/bin/sh
case "$1" in
  compose) shift; exec /usr/bin/docker-compose "$@" ;;
  build) shift; exec /usr/bin/docker build --network host "$@" ;;
esac
exec /usr/bin/docker "$@"
`,
  )
  await chmod(docker, 0o755)
  return `${bin}:${process.env["PATH"] ?? ""}`
}

async function startDaemon(
  stack: AsyncDisposableStack,
  folder: string,
  args: string[],
): Promise<void> {
  const daemon = Bun.spawn(
    [
      "/usr/sbin/dockerd",
      "--storage-driver=overlay2",
      "--iptables=false",
      "--ip-forward=false",
      "--ip-masq=false",
      `--data-root=${folder}/data`,
      `--exec-root=${folder}/exec`,
      `--pidfile=${folder}/pid`,
      ...args,
    ],
    { stdio: ["ignore", "ignore", Bun.file(join(folder, "daemon.log"))] },
  )
  // Should this run be ended before its last test: a daemon must not be left.
  const end = () => daemon.kill("SIGTERM")
  process.on("exit", end)
  stack.defer(async () => {
    process.off("exit", end)
    end()
    await daemon.exited
  })
}
