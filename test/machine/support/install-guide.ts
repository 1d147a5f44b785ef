import { readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../../../scripts/steps.ts"
import { guideBlocks } from "../../support/guide-blocks.ts"

/** What docs/install.md says to type, as far as it says that this test runs it. */
export function readInstallGuide(test: string) {
  const text = readFileSync(join(root, "docs/install.md"), "utf8")
  const blocks = guideBlocks(text, test).flatMap((section) => section.blocks)
  const [forUser, forMachine, ...more] = blocks.map((block) => block.text)
  // For who has a service besides the machine's own.
  const edited = /^```ini\n(\[Service\]\nEnvironment=CC_EXECUTOR_PORT=none)\n```$/m
  const withoutPort = edited.exec(text)?.[1]
  if (!forUser || !forMachine || !withoutPort || more.length > 0) {
    throw new Error("the guide to installing has other blocks than this test knows")
  }
  return { forUser, forMachine, withoutPort }
}
