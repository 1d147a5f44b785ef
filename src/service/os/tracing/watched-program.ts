import { readFileSync } from "node:fs"
import { constants } from "node:os"
import { signalName } from "../signals.ts"
import { executionLayout } from "./execution-layout.ts"
import { type Machine, machineOf } from "./machine.ts"
import {
  detach,
  eventExecution,
  eventStop,
  ignoreSignals,
  interrupt,
  interruptEvery,
  leaveStopped,
  nextStop,
  readSignalMask,
  resume,
  type Stop,
  seize,
  setOptions,
  setSignalMask,
  systemCallOf,
  traceExecutions,
  traceForks,
  traceSystemCalls,
  traceThreads,
} from "./ptrace.ts"
import { SteeredThread, writeMemory } from "./steered-thread.ts"
import {
  descriptorsOf,
  endTraced,
  isDeadly,
  isStopSignal,
  send,
  threadsOf,
  umaskOf,
} from "./traced-process.ts"

/** The program that goes on in a process when the next one there does not. */
export type PreviousProgram = {
  path: string
  argv: readonly Uint8Array[]
  env: readonly Uint8Array[]
  /** What stays open for it; everything else is closed. */
  descriptors: readonly number[]
}

/** What the next program of a process was given, as far as its watch is concerned. */
export type NextProgram = {
  /** Whoever closes this descriptor has taken over, and needs no watch any more. */
  acceptedBy: number
  /** How to go back, when it does not. */
  previous(why: string): PreviousProgram
}

export type WatchResult = "accepted" | "went back" | "ended" | "nothing to watch"

const lookMs = 50

/**
 * Watches a process, from outside, that is about to become another program. Should that one end, or
 * take too long, before it has taken over, the process is made to become the previous program
 * again: it never dies, and what it has started stays its own.
 */
export function watchNextProgram(options: {
  pid: number
  limitMs: number
  /** Null when this program needs no watch. */
  begun: (environment: Uint8Array) => NextProgram | null
  watching: () => void
}): WatchResult {
  const { pid, limitMs } = options
  const machine = machineOf(process.arch)
  if (machine === null) throw new Error(`unknown processor: ${process.arch}`)
  const { SIGHUP, SIGINT, SIGTERM, SIGUSR2 } = constants.signals
  ignoreSignals([SIGHUP, SIGINT, SIGTERM, SIGUSR2])
  // A program is executed by the first thread, and none of the others outlives that.
  seize(pid, traceSystemCalls | traceExecutions)
  options.watching()
  if (!untilExecuted()) return "ended"
  const environment = readFileSync(`/proc/${pid}/environ`)
  const next = options.begun(environment)
  if (next === null) return "nothing to watch"
  setOptions(pid, traceSystemCalls | traceExecutions | traceThreads | traceForks)
  interruptEvery(lookMs)
  return new Watch(pid, machine, next, limitMs).run()
}

/** Nothing of the process is changed until then. False when it has ended instead. */
function untilExecuted(): boolean {
  for (;;) {
    const stop = nextStop()
    if (stop === null) continue
    if (stop.kind === "gone") return false
    if (stop.kind === "event" && stop.event === eventExecution) return true
    goOn(stop, "event")
  }
}

class Watch {
  readonly #pid: number
  readonly #machine: Machine
  readonly #next: NextProgram
  readonly #limitMs: number
  readonly #beganMs = performance.now()
  /** As the previous program left them for the next one. */
  readonly #signalMask: BigUint64Array
  readonly #umask: number
  readonly #threads: Set<number>
  /** Processes that the next program has started. */
  readonly #started = new Set<number>()

  constructor(pid: number, machine: Machine, next: NextProgram, limitMs: number) {
    this.#pid = pid
    this.#machine = machine
    this.#next = next
    this.#limitMs = limitMs
    this.#signalMask = readSignalMask(pid)
    this.#umask = umaskOf(pid)
    this.#threads = new Set([pid])
    resume(pid, "system call")
  }

  run(): WatchResult {
    for (;;) {
      const stop = nextStop()
      if (stop?.kind === "gone" && this.#isOver(stop.tid)) return "ended"
      const why = stop === null ? null : this.#whyEnding(stop)
      if (stop !== null && why !== null) return this.#goBack(stop.tid, why)
      if (stop !== null && this.#isAccepting(stop)) {
        detach(stop.tid)
        return "accepted"
      }
      if (performance.now() - this.#beganMs > this.#limitMs) {
        if (stop !== null) this.#goOn(stop)
        return this.#goBack(null, `It was not ready within ${this.#limitMs / 1000} s.`)
      }
      if (stop !== null) this.#goOn(stop)
    }
  }

  #isOver(tid: number): boolean {
    this.#threads.delete(tid)
    this.#started.delete(tid)
    return tid === this.#pid && this.#threads.size === 0
  }

  /** Why its process would end now, if this thread went on; null when it would not. */
  #whyEnding(stop: Stop): string | null {
    if (!this.#isThread(stop.tid)) return null
    if (stop.kind === "signal") {
      return isDeadly(stop.tid, stop.signal) ? `It was ended by ${signalName(stop.signal)}.` : null
    }
    if (stop.kind !== "system call") return null
    const call = systemCallOf(stop.tid)
    if (call?.isEntry !== true) return null
    const { exit, exitGroup } = this.#machine.calls
    const isLast = call.number === exit && this.#threads.size === 1
    if (call.number !== exitGroup && !isLast) return null
    return `It ended at once, with exit code ${call.argument & 0xff}.`
  }

  #isAccepting(stop: Stop): boolean {
    if (stop.kind !== "system call" || !this.#isThread(stop.tid)) return false
    const call = systemCallOf(stop.tid)
    const isClose = call?.isEntry === true && call.number === this.#machine.calls.close
    return isClose && call.argument === this.#next.acceptedBy
  }

  /** A thread of the watched process, and not of another that it has started. */
  #isThread(tid: number): boolean {
    if (this.#threads.has(tid)) return true
    if (this.#started.has(tid)) return false
    const isThread = threadsOf(this.#pid).includes(tid)
    ;(isThread ? this.#threads : this.#started).add(tid)
    return isThread
  }

  #goOn(stop: Stop): void {
    if (stop.kind === "gone") return
    // A thread that executes a program goes on as the first, and the others are no more.
    if (stop.kind === "event" && stop.event === eventExecution && stop.tid === this.#pid) {
      this.#threads.clear()
      this.#threads.add(this.#pid)
    }
    goOn(stop, this.#isThread(stop.tid) ? "system call" : "event")
  }

  /** Puts the previous program back, by the thread that has stopped, or by any. */
  #goBack(stopped: number | null, why: string): WatchResult {
    // One of them might be what it waits for.
    endTraced(this.#pid)
    const tid = stopped ?? this.#stopAny()
    const thread = new SteeredThread(this.#pid, tid, this.#machine, (one) => this.#nextStopOf(one))
    const { path, argv, env, descriptors } = this.#next.previous(why)
    // A signal that came before may stand there, for the previous program to find again.
    thread.call("umask", this.#umask)
    for (const fd of descriptorsOf(this.#pid)) {
      if (fd > 2) thread.call("fcntl", fd, F_SETFD, descriptors.includes(fd) ? 0 : FD_CLOEXEC)
    }
    const size = executionLayout(path, argv, env, 0n).bytes.length
    const address = thread.call("mmap", 0, size, readAndWrite, privateMemory, -1, 0)
    if (address < 0n) throw new Error(`mmap: errno ${-address}`)
    const layout = executionLayout(path, argv, env, address)
    writeMemory(this.#pid, address, layout.bytes)
    if (!thread.execute(layout.path, layout.argv, layout.env)) {
      throw new Error("the previous program could not be executed")
    }
    endTraced(this.#pid) // nobody would look after them
    setSignalMask(this.#pid, this.#signalMask)
    detach(this.#pid)
    send(this.#pid, "SIGCONT") // where the next program, or somebody, had stopped it
    return "went back"
  }

  #stopAny(): number {
    const [first = this.#pid] = this.#threads
    const tid = this.#threads.has(this.#pid) ? this.#pid : first
    interrupt(tid)
    this.#nextStopOf(tid)
    return tid
  }

  /** The others stay where they stop; where a thread executes a program it becomes the first. */
  #nextStopOf(tid: number): Stop {
    for (;;) {
      const stop = nextStop()
      if (stop === null) continue
      if (stop.tid === tid || stop.tid === this.#pid) {
        const isExecuted = stop.kind === "event" && stop.event === eventExecution
        if (stop.tid === tid || isExecuted || stop.kind === "gone") return stop
      }
    }
  }
}

function goOn(stop: Stop, until: "event" | "system call"): void {
  if (stop.kind === "event" && stop.event === eventStop && isStopSignal(stop.signal)) {
    leaveStopped(stop.tid)
  } else resume(stop.tid, until, stop.kind === "signal" ? stop.signal : 0)
}

const F_SETFD = 2
const FD_CLOEXEC = 1
const readAndWrite = 0x3 // PROT_READ | PROT_WRITE
const privateMemory = 0x22 // MAP_PRIVATE | MAP_ANONYMOUS
