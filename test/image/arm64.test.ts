import { expect } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { testUnless } from "../support/test-unless.ts"
import type { Engine } from "./support/engine.ts"
import { images } from "./support/images.ts"
import { imageTimeoutMs, noImages, usesOwnEngine } from "./support/switch.ts"

const foreign = process.arch === "arm64" ? "amd64" : "arm64"
/** `e_machine`, where an ELF file says what runs it. */
const machineAt = 18
const machines = { amd64: 62, arm64: 183 }

testUnless(
  noImages,
  "the image runtime is built for the other processor, without emulation",
  async () => {
    const { engine } = await images()
    using folder = temporaryFolder()
    const tag = `cc-executor:${foreign}`
    const platform = `--platform=linux/${foreign}`
    const base = usesOwnEngine ? ["--build-arg", await emptyBase(engine, folder.path)] : []
    await using cleanup = new AsyncDisposableStack()

    await engine.docker("build", platform, ...base, "--tag", tag, ".")
    const container = await engine.docker("create", platform, tag)
    cleanup.defer(async () => void (await engine.docker("rm", "--volumes", container)))
    const program = join(folder.path, "cc-executor")
    await engine.docker("cp", `${container}:/usr/local/bin/cc-executor`, program)

    const inspected = await engine.docker("inspect", "--format={{.Architecture}}", tag)
    expect(inspected).toBe(foreign)
    const header = Buffer.from(await Bun.file(program).slice(0, 64).arrayBuffer())
    expect(header.readUInt16LE(machineAt)).toBe(machines[foreign])
  },
  imageTimeoutMs,
)

/** Nothing is run while this target is built, so nothing need be in what it is built on. */
async function emptyBase(engine: Engine, folder: string): Promise<string> {
  const context = join(folder, "base")
  mkdirSync(context)
  writeFileSync(join(context, "Dockerfile"), "FROM scratch\nUSER 65532\n")
  const platform = `--platform=linux/${foreign}`
  await engine.docker("build", platform, "--tag", "empty-base", context)
  return "RUNTIME_IMAGE=empty-base"
}
