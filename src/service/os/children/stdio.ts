import type { HandedChild, HandedOutput } from "../../../execution/handover.ts"
import type { Child, ChildInput, ChildOutput } from "../../keeper/ports.ts"
import { duplicate, growPipe, pipeBytes, setTerminalSize } from "../libc.ts"
import { PipeInput } from "./pipe-input.ts"
import { PipeOutput } from "./pipe-output.ts"
import { TerminalInput } from "./pseudo-terminal.ts"
import { UnopenedOutput } from "./unopened-output.ts"

export type Stdio = Pick<Child, "outputs" | "input" | "status" | "resize"> & {
  /** Leaves the descriptors to the next program; see `Child.handOver`. */
  handOver(): HandedStdio
  close(): void
}

export type HandedStdio = Pick<HandedChild, "outputs" | "input" | "status">

type Opens = "at once" | "when read"

/** Our ends of the pipes between keeper and child: just made, or handed over. */
export function pipeStdio(ends: HandedStdio, opens: Opens = "at once"): Stdio {
  using counted = new DisposableStack()
  for (const { fd } of ends.outputs) if (fd !== null) countIfLarge(fd, counted)
  const isLarge = counted.move()
  const outputs = ends.outputs.map(({ stream, fd }) => ({ stream, output: outputOf(fd, opens) }))
  const inputFd = ends.input?.fd ?? null
  const input = inputFd === null ? null : new PipeInput(inputFd)
  const status = ends.status === undefined ? null : outputOf(ends.status.fd, opens)
  return {
    outputs,
    input: ends.input === null ? null : (input ?? closedInput),
    status,
    resize: () => undefined,
    handOver: () => ({
      outputs: handOverOutputs(outputs),
      input: ends.input && { fd: input?.handOver() ?? null, isInsideLine: false },
      ...(status === null ? {} : { status: { fd: status.handOver() } }),
    }),
    close() {
      input?.close()
      status?.cancel()
      for (const { output } of outputs) output.cancel()
      isLarge.dispose()
    },
  }
}

export function masterStdio(handed: HandedStdio): Stdio {
  const masterFd = handed.outputs[0]?.fd ?? null
  const master = masterFd === null ? null : new PipeInput(duplicate(masterFd))
  const output = outputOf(masterFd, "when read")
  const input = new TerminalInput(master ?? closedInput, handed.input?.isInsideLine)
  return {
    outputs: [{ stream: "stdout", output }],
    input,
    status: null,
    resize(size) {
      const fd = master?.descriptor ?? null
      if (fd !== null) setTerminalSize(fd, size)
    },
    handOver() {
      master?.close() // before its descriptor means something else
      return handedTerminal(output.handOver(), input)
    },
    close() {
      master?.close()
      output.cancel()
    },
  }
}

/** Its input and its output are one. */
export function handedTerminal(fd: number | null, { isInsideLine }: TerminalInput): HandedStdio {
  return { outputs: [{ stream: "stdout", fd }], input: { fd, isInsideLine } }
}

function outputOf(fd: number | null, opens: Opens): ChildOutput {
  if (fd === null) return endedOutput
  return opens === "at once" ? new PipeOutput(fd) : new UnopenedOutput(fd)
}

function handOverOutputs(
  outputs: ReadonlyArray<{ stream: HandedOutput["stream"]; output: ChildOutput }>,
): HandedOutput[] {
  return outputs.map(({ stream, output }) => ({ stream, fd: output.handOver() }))
}

const endedOutput: ChildOutput = {
  read: () => Promise.resolve(null),
  cancel: () => undefined,
  handOver: () => null,
}

const closedInput: ChildInput = {
  write: () => Promise.resolve(0),
  close: () => undefined,
}

const usualBytes = 65_536
const largeBytes = 262_144
const mostLarge = 8
let large = 0

// An unprivileged user's quota is small: there every pipe keeps the kernel's 64 KiB.
const mayGrow = process.getuid?.() === 0

/**
 * Makes a pipe large while few are: a flood is then read in large pieces, at less cost. Some pieces
 * of each pipe are in memory at a time, so that sixty large ones took the keeper to 135 MB.
 */
export function enlarge(readFd: number): void {
  if (mayGrow && large < mostLarge) growPipe(readFd, largeBytes)
}

/** Counts a pipe among the large ones, if it is one, until its owner is disposed. */
function countIfLarge(readFd: number, owner: DisposableStack): void {
  if (pipeBytes(readFd) <= usualBytes) return
  large += 1
  owner.defer(() => {
    large -= 1
  })
}
