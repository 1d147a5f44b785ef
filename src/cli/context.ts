import type { Config } from "../config/config.ts"
import type { ApprovalRule } from "../execution/approval-rule.ts"
import type { TerminalSize } from "../execution/spec.ts"
import type { Result } from "../lib/result.ts"
import type { Logger } from "../log/log.ts"
import type { ParamsOf } from "../protocol/methods.ts"
import type { StartedBy } from "../service/storage/lock-text.ts"
import type { PolicyDecision } from "./policy-decision.ts"
import type { Text } from "./terminal/terminal-text.ts"

/** What a command needs of the world around it: everything a test would want to replace. */
export interface Context {
  readonly stdin: Input
  readonly stdout: Output
  readonly stderr: Output
  readonly signals: Signals
  readonly env: Environment
  readonly home: string
  readonly cwd: string
  /** The options of this command that say which service is meant, as they were typed. */
  readonly serviceOptions: readonly string[]
  readonly build: Build
  /** How to start this very program again. */
  readonly self: readonly string[]
  now(): Date
  /** Of the terminal this runs on, null without one. */
  terminalSize(): TerminalSize | null
  /** Runs the service in this process until it ends; answers the exit code. */
  serve(
    config: Config,
    options: { logger: Logger; say(text: string): void; startedBy: StartedBy },
  ): Promise<number>
  /** What a service with this configuration would do with a request, or why it has none. */
  readonly decide: Decide
  /** The approval rules that a service with this configuration would have, or why it has none. */
  approvalRules(config: Config): Promise<Result<readonly ApprovalRule[], string>>
  /** Looks at the files that a configuration names. */
  examineFiles(config: Config): Promise<SettingFiles>
}

export type Decide = (
  config: Config,
  request: ParamsOf<"execute">,
) => Promise<Result<PolicyDecision, string>>

export type Environment = Readonly<Record<string, string | undefined>>

export type Build = {
  version: string
  commit: string
  /** When the commit was made, so that one commit is always built the same; null from source. */
  built: string | null
}

export interface Output {
  readonly isTty: boolean
  /** In characters; null where lines have no end. */
  width(): number | null
  /**
   * What we say, with whatever others wrote in it made harmless. Resolves when it is out. Rejects
   * with a BrokenPipeError when nobody reads any more.
   */
  write(text: Text): Promise<void>
  /** As `write`, but exactly these bytes: what an execution wrote, or a protocol's messages. */
  writeBytes(bytes: Uint8Array): Promise<void>
}

export interface Input {
  /** `nothing` is /dev/null and its like: there is no use in passing it on. */
  readonly kind: "terminal" | "stream" | "nothing"
  /** Whether a process that was started beside this one writes to it, as in a pipeline. */
  isFedBySibling(): boolean
  /** Until its end, or until the signal is aborted. */
  chunks(until: AbortSignal): AsyncIterable<Uint8Array>
  /** Every key as it is pressed, until disposed. Only for a terminal. */
  rawMode(): RawMode
}

export interface RawMode extends Disposable {
  /** After the program was stopped and continued, the shell has put its own mode in place. */
  renew(): void
}

export type SignalName = "SIGINT" | "SIGTERM" | "SIGHUP" | "SIGWINCH" | "SIGCONT"

export interface Signals {
  on(signal: SignalName, run: () => void): Disposable
}

/** Whoever read our output has gone, as `head` does: there is nothing left to say, and no error. */
export class BrokenPipeError extends Error {
  override readonly name = "BrokenPipeError"
}

/** The files that settings name, as a service would find them. */
export type SettingFiles = {
  /** Why a service would not start with them. */
  problems: string[]
  certificateExpiresAt: Date | null
}
