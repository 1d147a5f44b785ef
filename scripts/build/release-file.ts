import { basename, join } from "node:path"
import { root } from "../steps.ts"
import { billOfMaterials } from "./bill-of-materials.ts"
import { bundledPackages } from "./bundled-packages.ts"
import { type Compilation, compile } from "./compile.ts"
import { sha256 } from "./sha256.ts"

/** A file's line in a list that `sha256sum -c` reads. */
export type Checksum = { file: string; sha256: string }

/** Makes an executable, and beside it the bill of what is in it; answers both their checksums. */
export async function releaseFile(compilation: Compilation): Promise<Checksum[]> {
  const sources = await compile(compilation)
  const { outfile, facts, runtime } = compilation
  const program = { file: basename(outfile), sha256: await sha256(join(root, outfile)) }
  const packages = await bundledPackages(sources)
  const bill = billOfMaterials({ ...program, facts, runtime, packages })
  const billPath = join(root, `${outfile}.cdx.json`)
  await Bun.write(billPath, `${JSON.stringify(bill, null, 2)}\n`)
  return [program, { file: basename(billPath), sha256: await sha256(billPath) }]
}

export function checksumList(checksums: readonly Checksum[]): string {
  return checksums.map(({ file, sha256: digest }) => `${digest}  ${file}\n`).join("")
}
