import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { z } from "zod"
import { dependencies, devDependencies } from "../../../package.json"
import { billOfMaterials } from "../../../scripts/build/bill-of-materials.ts"
import { bundledPackages } from "../../../scripts/build/bundled-packages.ts"
import { sha256 } from "../../../scripts/build/sha256.ts"
import { testTools, toolFolder } from "../../../scripts/test-tools.ts"
import { testUnless } from "../../support/test-unless.ts"

const dist = join(import.meta.dir, "../../../dist")
const program = join(dist, "cc-executor")

const Component = z.object({
  name: z.string(),
  version: z.string(),
  purl: z.string().optional(),
  licenses: z.array(z.unknown()),
  hashes: z.array(z.object({ alg: z.string(), content: z.string() })),
})
const Bill = z.object({
  metadata: z.object({ timestamp: z.string(), component: Component }),
  components: z.array(Component),
})

describe("the bill of the executable that was built", () => {
  const read = async () => Bill.parse(await Bun.file(`${program}.cdx.json`).json())

  test("is of that very file", async () => {
    const { component } = (await read()).metadata
    expect(component.hashes).toEqual([{ alg: "SHA-256", content: await sha256(program) }])
  })

  test("names the runtime by its version and hash", async () => {
    const [runtime] = (await read()).components
    expect(runtime).toMatchObject({ name: "bun", version: Bun.version })
    expect(runtime?.hashes).toEqual([{ alg: "SHA-256", content: await sha256(process.execPath) }])
  })

  test("has what we depend on, and what that depends on, and no tool", async () => {
    const names = (await read()).components.map(({ name }) => name)
    expect(names).toContainValues(Object.keys(dependencies))
    expect(names).toContainValues(["thread-stream", "@pinojs/redact"])
    expect(names.filter((name) => Object.hasOwn(devDependencies, name))).toEqual([])
  })

  test("says of each what it is: version, hash, licence, package URL", async () => {
    const [, ...packages] = (await read()).components
    for (const { name, version, purl, licenses, hashes } of packages) {
      expect(purl).toBe(`pkg:npm/${name.replace("@", "%40")}@${version}`)
      expect(licenses).toHaveLength(1)
      expect(hashes[0]).toMatchObject({
        alg: "SHA-512",
        content: expect.stringMatching(/^[\da-f]{128}$/),
      })
    }
  })
})

describe("a bill", () => {
  const facts = { version: "1.2.3", commit: "abc", built: "2026-01-02T03:04:05Z" }
  const contents = {
    file: "cc-executor",
    sha256: "0123456789abcdef".repeat(4),
    facts,
    runtime: { path: "", version: "1.4.4", sha256: "f".repeat(64), package: "@oven/bun-linux-x64" },
    packages: [
      { name: "@a/b", version: "1.0.0", integrity: "sha512-AAAA", licence: "(MIT OR Apache-2.0)" },
    ],
  }

  test("is the same for the same contents", () => {
    expect(billOfMaterials(contents)).toEqual(billOfMaterials(structuredClone(contents)))
  })

  test("keeps a licence that is a choice as one", () => {
    const [, component] = z
      .object({ components: z.array(z.object({ licenses: z.unknown() })) })
      .parse(billOfMaterials(contents)).components
    expect(component?.licenses).toEqual([{ expression: "(MIT OR Apache-2.0)" }])
  })

  test("has packages within packages, by the version they really have", async () => {
    const inner = "node_modules/pino-pretty/node_modules/sonic-boom/index.js"
    const found = await bundledPackages([inner, "node_modules/sonic-boom/index.js", "src/main.ts"])
    expect(found.map(({ name }) => name)).toEqual(["sonic-boom", "sonic-boom"])
    expect(new Set(found.map(({ version }) => version)).size).toBe(2)
  })

  const folder = toolFolder("cyclonedx")
  const obstacle = folder === null ? `${testTools.cyclonedx} is not installed` : null
  testUnless(
    obstacle,
    "fits the schema of CycloneDX 1.6, and one with a fault does not",
    async () => {
      const validator = await openValidator(folder ?? "")
      const real = await Bun.file(`${program}.cdx.json`).text()

      expect(await validator.validate(real)).toBeNull()
      expect(await validator.validate(JSON.stringify(billOfMaterials(contents)))).not.toBeNull()
      expect(await validator.validate(real.replace('"SHA-512"', '"SHA-513"'))).not.toBeNull()
    },
  )
})

type Validator = { validate(json: string): Promise<unknown> }
const Library = z.object({
  Spec: z.object({ Version: z.object({ v1dot6: z.string() }) }),
  Validation: z.object({ JsonStrictValidator: z.custom<new (version: string) => Validator>() }),
})

async function openValidator(folder: string): Promise<Validator> {
  const main = join(folder, "node_modules/@cyclonedx/cyclonedx-library/dist.node/index.node.js")
  const { Spec, Validation } = Library.parse(await import(pathToFileURL(main).href))
  return new Validation.JsonStrictValidator(Spec.Version.v1dot6)
}
