import { dlopen, FFIType } from "bun:ffi"

const PR_SET_CHILD_SUBREAPER = 36

/** Makes this process adopt orphans, as the keeper does, for as long as a test needs that. */
export function subreaper(): Disposable {
  const { symbols } = dlopen("libc.so.6", {
    prctl: { args: [FFIType.i32, FFIType.u64], returns: FFIType.i32 },
  })
  const set = (isOn: bigint) => {
    if (symbols.prctl(PR_SET_CHILD_SUBREAPER, isOn) !== 0) throw new Error("prctl failed")
  }
  set(1n)
  return { [Symbol.dispose]: () => set(0n) }
}
