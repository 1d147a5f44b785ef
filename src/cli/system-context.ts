import { fstatSync } from "node:fs"
import { isatty, WriteStream } from "node:tty"
import type { TerminalSize } from "../execution/spec.ts"
import type { Context, Input, Signals } from "./context.ts"
import { descriptorOutput } from "./terminal/descriptor-output.ts"
import { rawTerminal } from "./terminal/raw-terminal.ts"

/** The real world, save for what only main.ts may read. */
export function systemContext(
  given: Pick<Context, "env" | "home" | "build" | "self" | "serve" | "decide" | "examineFiles">,
): Context {
  return {
    ...given,
    stdin: standardInput(),
    stdout: descriptorOutput(1),
    stderr: descriptorOutput(2),
    signals,
    cwd: process.cwd(),
    now: () => new Date(),
    terminalSize,
  }
}

const signals: Signals = {
  on(signal, run) {
    process.on(signal, run)
    return { [Symbol.dispose]: () => void process.off(signal, run) }
  },
}

function terminalSize(): TerminalSize | null {
  const fd = [1, 0, 2].find((candidate) => isatty(candidate))
  if (fd === undefined) return null
  const [cols, rows] = new WriteStream(fd).getWindowSize()
  return cols > 0 && rows > 0 ? { cols, rows } : null
}

function standardInput(): Input {
  return {
    kind: inputKind(),
    async *chunks(until) {
      const reader = Bun.stdin.stream().getReader()
      const cancel = () => void reader.cancel().catch(() => undefined)
      until.addEventListener("abort", cancel)
      try {
        while (!until.aborted) {
          const { done, value } = await reader.read()
          if (done) return
          yield value
        }
      } finally {
        until.removeEventListener("abort", cancel)
      }
    },
    rawMode: () => rawTerminal(0),
  }
}

function inputKind(): Input["kind"] {
  if (isatty(0)) return "terminal"
  const stat = fstatSync(0)
  return stat.isFIFO() || stat.isFile() || stat.isSocket() ? "stream" : "nothing"
}
