import type { BuildFacts } from "./build-facts.ts"
import type { BundledPackage } from "./bundled-packages.ts"
import { closedVariables } from "./close-switches.ts"
import type { Runtime } from "./runtime.ts"

export type Contents = {
  /** The executable's file name and SHA-256. */
  file: string
  sha256: string
  facts: BuildFacts
  runtime: Runtime
  packages: readonly BundledPackage[]
}

/** What an executable is made of: CycloneDX 1.6. The same executable has the same bill. */
export function billOfMaterials(contents: Contents): object {
  const { file, sha256, facts, runtime, packages } = contents
  const program = `cc-executor@${facts.version}`
  const components = [runtimeComponent(runtime), ...packages.map(packageComponent)]
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: `urn:uuid:${uuidFrom(sha256)}`,
    version: 1,
    metadata: {
      ...(facts.built === null ? {} : { timestamp: facts.built }),
      lifecycles: [{ phase: "build" }],
      component: {
        type: "application",
        "bom-ref": program,
        name: "cc-executor",
        version: facts.version,
        licenses: [{ license: { id: "MIT" } }],
        hashes: [{ alg: "SHA-256", content: sha256 }],
        properties: [
          { name: "cc-executor:file", value: file },
          { name: "cc-executor:commit", value: facts.commit },
        ],
      },
    },
    components,
    // How its parts depend on one another is for the lockfile to say; here is what is inside. What
    // is linked into the runtime is named by its licence page, and not one by one here.
    dependencies: [
      { ref: program, dependsOn: components.map((component) => component["bom-ref"]) },
    ],
    compositions: [{ aggregate: "incomplete", assemblies: [runtimeReference(runtime)] }],
  }
}

function runtimeComponent(runtime: Runtime) {
  const { version, sha256, package: name } = runtime
  const reference = runtimeReference(runtime)
  return {
    type: "platform",
    "bom-ref": reference,
    name: "bun",
    version,
    description: "The JavaScript runtime, with the libraries that are linked into it.",
    licenses: [{ license: { id: "MIT" } }],
    ...(name === null ? {} : { purl: reference }),
    hashes: [{ alg: "SHA-256", content: sha256 }],
    externalReferences: [
      { type: "license", url: "https://bun.com/docs/project/license" },
      { type: "vcs", url: "https://github.com/oven-sh/bun" },
    ],
    pedigree: {
      notes:
        "The hash is the runtime's before it was put into the executable, where one byte of each " +
        `of these names is cleared, so that it is not looked for: ${closedVariables.join(", ")}.`,
    },
  }
}

function runtimeReference({ package: name, version }: Runtime): string {
  return name === null ? `bun@${version}` : purl(name, version)
}

function packageComponent({ name, version, integrity, licence }: BundledPackage) {
  const reference = purl(name, version)
  const isExpression = / (?:OR|AND|WITH) /.test(licence)
  return {
    type: "library",
    "bom-ref": reference,
    name,
    version,
    licenses: [isExpression ? { expression: licence } : { license: { id: licence } }],
    purl: reference,
    hashes: [{ alg: "SHA-512", content: digestOf(integrity) }],
  }
}

function purl(name: string, version: string): string {
  return `pkg:npm/${name.replace("@", "%40")}@${version}`
}

function digestOf(integrity: string): string {
  const base64 = /^sha512-(.+)$/.exec(integrity)?.[1]
  if (base64 === undefined) throw new Error(`bun.lock has "${integrity}" where sha512-… was meant.`)
  return Buffer.from(base64, "base64").toString("hex")
}

/** Version 8 is the one whose bits may come from anywhere. */
function uuidFrom(sha256: string): string {
  const digits = `${sha256.slice(0, 12)}8${sha256.slice(13, 16)}8${sha256.slice(17, 32)}`
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")
}
