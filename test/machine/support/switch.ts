import { notRoot } from "../../support/test-unless.ts"
import { noBaseDisk } from "./base-disk.ts"

/** What makes a disk and starts a machine from it; scripts/system-packages.ts installs them. */
const programs = ["qemu-system-x86_64", "debootstrap", "mke2fs"]

/** Why no machine is started here, or null. */
export const noMachine = await obstacle()

async function obstacle(): Promise<string | null> {
  if (process.env["TEST_MACHINE"] !== "1") return "set TEST_MACHINE=1"
  if (process.arch !== "x64") return "needs x86_64"
  if (notRoot !== null) return notRoot
  const missing = programs.filter((name) => Bun.which(name) === null)
  if (missing.length > 0) return `needs ${missing.join(", ")}`
  return noBaseDisk()
}
