import { existsSync } from "node:fs"
import { chmod, cp, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises"
import { homedir, tmpdir } from "node:os"
import { dirname, join } from "node:path"
import type { Engine } from "./engine.ts"

const authorities = "/etc/ssl/certs/ca-certificates.crt"

/**
 * Where no registry can be reached: images that stand in for those the Dockerfile begins with,
 * under their names, made of Debian's packages and of the Bun that runs this. For tests only.
 */
export async function makeBaseImages(engine: Engine): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "cc-executor-bases-"))
  await using cleanup = new AsyncDisposableStack()
  cleanup.defer(() => rm(folder, { recursive: true }))
  await Promise.all([
    makeDebian(engine).then(() => makeBun(engine, join(folder, "bun"))),
    makeDistroless(engine, join(folder, "distroless")),
  ])
}

/** As `debian:bookworm-slim`: what apt needs, and nothing else. Kept, since it takes a while. */
async function makeDebian(engine: Engine): Promise<void> {
  const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache")
  const archive = join(cache, "cc-executor-test-tools", "bookworm-slim.tar")
  if (!existsSync(archive)) {
    await mkdir(dirname(archive), { recursive: true })
    const half = `${archive}.${process.pid}.tar`
    await engine.must(["mmdebstrap", "--quiet", "--variant=apt", "bookworm", half])
    await rename(half, archive)
  }
  await engine.docker("import", archive, "debian:bookworm-slim")
}

/** As `oven/bun`: Debian with Bun. It trusts whom this machine trusts, to fetch packages. */
async function makeBun(engine: Engine, folder: string): Promise<void> {
  await mkdir(folder)
  await cp(process.execPath, join(folder, "bun"))
  await cp(authorities, join(folder, "ca-certificates.crt"))
  const lines = [
    "FROM debian:bookworm-slim",
    "COPY bun /usr/local/bin/bun",
    `COPY ca-certificates.crt ${authorities}`,
    `ENV NODE_EXTRA_CA_CERTS=${authorities}`,
  ]
  await writeFile(join(folder, "Dockerfile"), lines.join("\n"))
  await engine.docker("build", "--quiet", "--tag", `oven/bun:${Bun.version}`, folder)
}

const runtimePackages = ["base-files", "netbase", "tzdata", "ca-certificates", "libc6", "libssl3"]

/** As `gcr.io/distroless/base-debian12:nonroot`: libraries, a user, and no program at all. */
async function makeDistroless(engine: Engine, folder: string): Promise<void> {
  const [packages, files] = [join(folder, "packages"), join(folder, "files")]
  for (const path of [packages, join(files, "home/nonroot"), join(files, "tmp")]) {
    await mkdir(path, { recursive: true })
  }
  // apt gives its rights away for a download, to a user who must be able to write here.
  for (const path of [dirname(folder), folder, packages]) await chmod(path, 0o777)
  await engine.must(["apt-get", "download", "-qq", ...runtimePackages], { cwd: packages })
  for await (const name of new Bun.Glob("*.deb").scan(packages)) {
    await engine.must(["dpkg", "-x", join(packages, name), files])
  }
  await writeFile(join(files, "etc/passwd"), users.map((user) => `${user}\n`).join(""))
  await writeFile(join(files, "etc/group"), "root:x:0:\nnonroot:x:65532:\n")
  await chmod(join(files, "tmp"), 0o1777)
  await engine.must(["chown", "65532:65532", join(files, "home/nonroot")])
  const archive = join(folder, "files.tar")
  await engine.must(["tar", "-C", files, "-cf", archive, "."])
  const changes = ["USER 65532", "WORKDIR /home/nonroot", "ENV PATH=/usr/local/bin:/usr/bin:/bin"]
  const options = changes.flatMap((change) => ["--change", change])
  await engine.docker("import", ...options, archive, "gcr.io/distroless/base-debian12:nonroot")
}

const users = [
  "root:x:0:0:root:/root:/sbin/nologin",
  "nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin",
]
