/** What differs between processors in how a program asks the kernel for something. */
export type Machine = {
  calls: Record<CallName, number>
  /** Machine code that makes a system call, as its first bytes. */
  callInstruction: bigint
  /** How many registers there are, and which of them mean what. */
  registers: number
  at: { instruction: number; call: number; result: number; arguments: readonly number[] }
  /** How a call that has just been entered, or interrupted, is given up. */
  giveUp: { register: number } | { set: number }
}

export type CallName = "exit" | "exitGroup" | "close" | "mmap" | "fcntl" | "umask" | "execve"

/** Null for a processor that nobody has tried. */
export function machineOf(architecture: string): Machine | null {
  if (architecture === "x64") return x64
  return architecture === "arm64" ? arm64 : null
}

const x64: Machine = {
  calls: { exit: 60, exitGroup: 231, close: 3, mmap: 9, fcntl: 72, umask: 95, execve: 59 },
  callInstruction: 0x050fn, // syscall
  registers: 27, // user_regs_struct
  at: { instruction: 16, call: 10, result: 10, arguments: [14, 13, 12, 7, 9, 8] },
  giveUp: { register: 15 }, // orig_rax
}

const arm64: Machine = {
  calls: { exit: 93, exitGroup: 94, close: 57, mmap: 222, fcntl: 25, umask: 166, execve: 221 },
  callInstruction: 0xd4000001n, // svc #0
  registers: 34, // user_pt_regs
  at: { instruction: 32, call: 8, result: 0, arguments: [0, 1, 2, 3, 4, 5] },
  giveUp: { set: 0x404 }, // NT_ARM_SYSTEM_CALL
}
