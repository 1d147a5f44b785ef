import {
  BrokenPipeError,
  type Context,
  type Input,
  type Output,
  type SignalName,
} from "../../src/cli/context.ts"
import { terminalText } from "../../src/cli/terminal/terminal-text.ts"

export type FakeOutput = Output & { text(): string; bytes(): Uint8Array; break(): void }

export function fakeOutput(options: { isTty?: boolean; width?: number } = {}): FakeOutput {
  const pieces: Uint8Array[] = []
  let isBroken = false
  const writeBytes = async (bytes: Uint8Array) => {
    if (isBroken) throw new BrokenPipeError("EPIPE")
    pieces.push(bytes.slice())
  }
  return {
    isTty: options.isTty ?? false,
    width: () => options.width ?? null,
    write: (text) => writeBytes(Buffer.from(terminalText(text))),
    writeBytes,
    text: () => Buffer.concat(pieces).toString("utf8"),
    bytes: () => Buffer.concat(pieces),
    break: () => {
      isBroken = true
    },
  }
}

export function fakeInput(kind: Input["kind"], pieces: string[] = []): Input & { modes: string[] } {
  const modes: string[] = []
  return {
    kind,
    isFedBySibling: () => true,
    modes,
    async *chunks() {
      for (const piece of pieces) yield Buffer.from(piece)
    },
    rawMode() {
      modes.push("raw")
      return {
        renew: () => void modes.push("raw again"),
        [Symbol.dispose]: () => void modes.push("restored"),
      }
    },
  }
}

export type FakeContext = Context & {
  readonly stdout: FakeOutput
  readonly stderr: FakeOutput
  signal(name: SignalName): void
}

type Replaced = Partial<Omit<Context, "stdout" | "stderr">> & {
  stdout?: FakeOutput
  stderr?: FakeOutput
}

export function fakeContext(replaced: Replaced = {}): FakeContext {
  const listeners = new Map<SignalName, Set<() => void>>()
  return {
    stdin: fakeInput("nothing"),
    stdout: fakeOutput(),
    stderr: fakeOutput(),
    signals: {
      on(signal, run) {
        const runs = listeners.get(signal) ?? new Set()
        listeners.set(signal, runs.add(run))
        return { [Symbol.dispose]: () => void runs.delete(run) }
      },
    },
    env: {},
    home: "/home/user",
    cwd: "/home/user/project",
    serviceOptions: [],
    build: { version: "1.2.3", commit: "abc", built: "2026-01-02T03:04:05Z" },
    self: ["cc-executor"],
    now: () => new Date("2026-11-16T12:00:00Z"),
    terminalSize: () => null,
    serve: () => Promise.reject(new Error("no service in this test")),
    decide: () => Promise.reject(new Error("no policy in this test")),
    approvalRules: () => Promise.reject(new Error("no policy in this test")),
    examineFiles: () => Promise.reject(new Error("no files in this test")),
    signal(name) {
      for (const run of listeners.get(name) ?? []) run()
    },
    ...replaced,
  }
}
