import { getRlimit, RLIMIT_NOFILE, setRlimit } from "../../src/service/os/libc.ts"

/** Until it is disposed, this process can open nothing more: EMFILE is all there is. */
export function withoutDescriptors(): Disposable {
  const before = getRlimit(process.pid, RLIMIT_NOFILE)
  if (before === null) throw new Error("this process has no limit of descriptors")
  // Its own three stay open, whatever else it closes meanwhile.
  setRlimit(process.pid, RLIMIT_NOFILE, { ...before, soft: 3n })
  return { [Symbol.dispose]: () => void setRlimit(process.pid, RLIMIT_NOFILE, before) }
}
