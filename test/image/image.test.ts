import { describe, expect } from "bun:test"
import { z } from "zod"
import { version } from "../../package.json"
import { testUnless } from "../support/test-unless.ts"
import { type Images, images } from "./support/images.ts"
import { imageTimeoutMs, noImages } from "./support/switch.ts"

const program = "/usr/local/bin/cc-executor"

const ImageConfig = z.object({
  User: z.string(),
  Entrypoint: z.array(z.string()),
  Cmd: z.array(z.string()),
  Env: z.array(z.string()),
  ExposedPorts: z.record(z.string(), z.unknown()),
  Volumes: z.record(z.string(), z.unknown()),
  Healthcheck: z.object({ Test: z.array(z.string()) }),
  StopSignal: z.string(),
  Labels: z.record(z.string(), z.string()),
})

describe.each(["runtime", "agent"] as const)("the image %s", (target) => {
  const imageTest = (behaviour: string, run: (built: Images) => Promise<void>) =>
    testUnless(noImages, behaviour, async () => run(await images()), imageTimeoutMs)

  imageTest("is built by the Dockerfile as it is, and has this version in it", async (built) => {
    const said = await built.engine.docker("run", "--rm", built[target], "version")

    expect(said).toContain(version)
  })

  imageTest("runs as a user that is not root, and starts without a shell", async (built) => {
    const config = await configOf(built, target)

    expect(config).toMatchObject({
      User: "65532:65532",
      Entrypoint: [program],
      Cmd: ["serve"],
      Healthcheck: { Test: ["CMD", program, "healthcheck"] },
      StopSignal: "SIGTERM",
      ExposedPorts: { "8003/tcp": {} },
      Volumes: { "/var/lib/cc-executor": {} },
    })
  })

  imageTest("says what it is and whose", async (built) => {
    const { Labels } = await configOf(built, target)

    expect(Labels).toMatchObject({
      "org.opencontainers.image.title": "cc-executor",
      "org.opencontainers.image.licenses": "MIT",
    })
    expect(Labels["org.opencontainers.image.description"]).toBeTruthy()
  })

  imageTest("that may make no token needs one to start, and says how to give it", async (built) => {
    const options = ["--rm", "--env=CC_EXECUTOR_MAKE_TOKEN=false"]
    const run = ["docker", "run", ...options, built[target]]
    const { exitCode, stderr } = await built.engine.run(run)

    expect(exitCode).toBe(1)
    expect(stderr).toContain("0.0.0.0 can be reached from other machines")
    expect(stderr).toContain("--accept-token-file")
  })
})

testUnless(
  noImages,
  "the image runtime has no shell, and nothing that runs as somebody else",
  async () => {
    const { engine, runtime } = await images()
    const shell = await engine.run(["docker", "run", "--rm", "--entrypoint=/bin/sh", runtime, "-c"])
    const container = await engine.docker("create", runtime)
    await using cleanup = new AsyncDisposableStack()
    cleanup.defer(async () => void (await engine.docker("rm", "--volumes", container)))
    const listing = ["sh", "-c", `docker export ${container} | tar -tv`]

    const entries = (await engine.must(listing)).split("\n")

    expect(shell.exitCode).toBe(127)
    expect(shell.stderr).toContain("/bin/sh")
    expect(entries.some((entry) => entry.endsWith(" usr/local/bin/cc-executor"))).toBe(true)
    expect(entries.filter((entry) => /[ /](?:sh|[a-z]{1,3}sh|busybox|env)$/.test(entry))).toEqual(
      [],
    )
    expect(entries.filter((entry) => /^-..s|^-.{5}s/.test(entry))).toEqual([])
  },
  imageTimeoutMs,
)

testUnless(
  noImages,
  "the image agent has what coding agents expect",
  async () => {
    const { engine, agent } = await images()
    const line = "git --version && rg --version && ps --version && id -un && cd && touch it && pwd"
    const options = ["--rm", "--entrypoint=/bin/bash"]

    const said = await engine.docker("run", ...options, agent, "-c", line)

    expect(said).toMatch(/^git version/m)
    expect(said).toMatch(/^ripgrep/m)
    expect(said).toContain("nonroot\n/home/nonroot")
  },
  imageTimeoutMs,
)

async function configOf(built: Images, target: "runtime" | "agent") {
  const text = await built.engine.docker("inspect", "--format={{json .Config}}", built[target])
  return ImageConfig.parse(JSON.parse(text))
}
