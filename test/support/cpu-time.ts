import { dlopen, FFIType, ptr } from "bun:ffi"

const { symbols } = dlopen("libc.so.6", {
  clock_getcpuclockid: { args: [FFIType.i32, FFIType.ptr], returns: FFIType.i32 },
  clock_gettime: { args: [FFIType.i32, FFIType.ptr], returns: FFIType.i32 },
})

/**
 * Processor time that a process has used so far, all of its threads together: from the scheduler,
 * in nanoseconds. `/proc/PID/stat` counts in ticks of 10 ms, which hide what little things cost.
 */
export function cpuMsOf(pid: number): number {
  const clock = new Int32Array(1)
  const time = new BigInt64Array(2) // seconds, nanoseconds
  const failure = symbols.clock_getcpuclockid(pid, ptr(clock))
  if (failure !== 0) throw new Error(`process ${pid} has no clock: errno ${failure}`)
  const [clockId = 0] = clock
  if (symbols.clock_gettime(clockId, ptr(time)) !== 0) throw new Error(`process ${pid} is gone`)
  const [seconds = 0n, nanoseconds = 0n] = time
  return Number(seconds) * 1000 + Number(nanoseconds) / 1_000_000
}
