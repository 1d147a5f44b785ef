import assert from "node:assert/strict"
import { closeSync, openSync, readFileSync, writeSync } from "node:fs"
import type { CallName, Machine } from "./machine.ts"
import {
  eventExecution,
  poke,
  readRegisters,
  resume,
  type Stop,
  setRegisters,
  setSignalMask,
  systemCallOf,
} from "./ptrace.ts"

/**
 * A thread of another process that has stopped, wherever that was, and makes system calls for us.
 * It cannot go on with its own program afterwards.
 */
export class SteeredThread {
  readonly #tid: number
  readonly #machine: Machine
  readonly #nextStopOf: (tid: number) => Stop
  readonly #registers: BigUint64Array

  /** `nextStopOf` waits until this thread stops. */
  constructor(pid: number, tid: number, machine: Machine, nextStopOf: (tid: number) => Stop) {
    this.#tid = tid
    this.#machine = machine
    this.#nextStopOf = nextStopOf
    this.#registers = new BigUint64Array(machine.registers)
    setSignalMask(tid, new BigUint64Array([everySignal]))
    this.#giveUpOwnCall()
    const code = executableAddress(pid)
    poke(tid, code, machine.callInstruction)
    this.#registers[machine.at.instruction] = code
  }

  /** Its result, or a negative errno. */
  call(name: Exclude<CallName, "execve">, ...values: Array<number | bigint>): bigint {
    const stop = this.#enter(name, values)
    assert(stop.kind === "system call", `${name} did not return`)
    const after = this.#readRegisters()
    return BigInt.asIntN(64, after[this.#machine.at.result] ?? -1n)
  }

  /** Puts another program into its process; false when that cannot be executed. */
  execute(...values: bigint[]): boolean {
    const stop = this.#enter("execve", values)
    return stop.kind === "event" && stop.event === eventExecution
  }

  #enter(name: CallName, values: ReadonlyArray<number | bigint>): Stop {
    const { at, calls } = this.#machine
    const registers = this.#registers.slice()
    for (const [index, value] of values.entries()) {
      registers[at.arguments[index] ?? 0] = BigInt.asUintN(64, BigInt(value))
    }
    registers[at.call] = BigInt(calls[name])
    setRegisters(this.#tid, generalRegisters, registers)
    this.#step()
    return this.#step()
  }

  /** What it was about to ask the kernel, or would ask again, is not asked. */
  #giveUpOwnCall(): void {
    const { giveUp } = this.#machine
    const isEntered = systemCallOf(this.#tid)?.isEntry === true
    this.#registers.set(this.#readRegisters())
    if ("register" in giveUp) {
      this.#registers[giveUp.register] = noCall
      setRegisters(this.#tid, generalRegisters, this.#registers)
    } else setRegisters(this.#tid, giveUp.set, new Int32Array([-1]))
    if (isEntered) this.#step()
  }

  #readRegisters(): BigUint64Array {
    const registers = new BigUint64Array(this.#machine.registers)
    readRegisters(this.#tid, generalRegisters, registers)
    return registers
  }

  /** To the beginning or the end of its next system call; or into another program. */
  #step(): Stop {
    for (;;) {
      resume(this.#tid, "system call")
      const stop = this.#nextStopOf(this.#tid)
      assert(stop.kind !== "gone", "the process has ended")
      if (stop.kind === "system call") return stop
      if (stop.kind === "event" && stop.event === eventExecution) return stop
    }
  }
}

const generalRegisters = 1 // NT_PRSTATUS
const everySignal = 2n ** 64n - 1n
const noCall = 2n ** 64n - 1n

/** Where there is code that may be overwritten: nothing of the program runs any more. */
function executableAddress(pid: number): bigint {
  const maps = readFileSync(`/proc/${pid}/maps`, "latin1").split("\n")
  const line = maps.find((one) => /^[0-9a-f]+-[0-9a-f]+ r-xp /.test(one))
  assert(line !== undefined, "the process has no code")
  return BigInt(`0x${line.split("-")[0]}`)
}

/** Writes into memory of a process that we trace. */
export function writeMemory(pid: number, address: bigint, bytes: Uint8Array): void {
  const memory = openSync(`/proc/${pid}/mem`, "r+")
  try {
    for (let at = 0; at < bytes.length; ) {
      at += writeSync(memory, bytes, at, bytes.length - at, Number(address) + at)
    }
  } finally {
    closeSync(memory)
  }
}
