import { closeSync, openSync } from "node:fs"
import { getRlimit, RLIMIT_NOFILE, setRlimit } from "../../src/service/os/libc.ts"

/** Until it is disposed, this process can open nothing more: EMFILE is all there is. */
export function withoutDescriptors(): Disposable {
  const before = getRlimit(process.pid, RLIMIT_NOFILE)
  if (before === null) throw new Error("this process has no limit of descriptors")
  const lowest = openSync("/dev/null", "r") // descriptors are given out from the lowest one
  closeSync(lowest)
  setRlimit(process.pid, RLIMIT_NOFILE, { ...before, soft: BigInt(lowest) })
  return { [Symbol.dispose]: () => void setRlimit(process.pid, RLIMIT_NOFILE, before) }
}
