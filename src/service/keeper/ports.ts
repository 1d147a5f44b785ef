import type { HandedChild, HandedRedactor, HandedTranscript } from "../../execution/handover.ts"
import type { ExecutionId } from "../../execution/id.ts"
import type { ProgramFiles } from "../../execution/policy.ts"
import type { SignedReceipt } from "../../execution/receipt.ts"
import type {
  ContainmentMode,
  Count,
  ExecutionRecord,
  Position,
  ProcessIdentity,
  ResourceUse,
  StreamName,
  Survivor,
  TranscriptFacts,
  TranscriptHashes,
} from "../../execution/record.ts"
import type { RunAs } from "../../execution/run-as.ts"
import type { Budget, LimitsHeldBy, ResourceLimits, TerminalSize } from "../../execution/spec.ts"
import type { ExecutionEvent, Exit } from "../../execution/state.ts"
import type { Result } from "../../lib/result.ts"
import type { AuditNote } from "../../protocol/audit-entry.ts"
import type { KeeperMessage } from "../../protocol/ipc.ts"

/** What the keeper needs of the world. Adapters: os/, storage/ and audit/. */

export interface Clock {
  /** For people and records. */
  now(): Date
  /** For every timeout: never jumps. */
  monotonicMs(): number
  after(delayMs: number, run: () => void): Disposable
}

/** The file descriptors of this process. */
export interface Descriptors {
  readonly limit: number
  open(): number
}

// --- processes ---------------------------------------------------------------------------------

export type Launch = {
  executionId: ExecutionId
  /** The program's path, then its arguments. */
  argv: readonly string[]
  /** What the program is told its own name is; null for its path. */
  argv0: string | null
  cwd: string
  /** Whether that was judged, as a path without links: then it starts there, or not at all. */
  cwdIsReal: boolean
  env: Record<string, string>
  stdin: "closed" | "pipe"
  terminal: TerminalSize | null
  limits: ResourceLimits
  /** Whom it runs as; null is the service's own user. */
  user: RunAs | null
  limitsHeldBy: LimitsHeldBy
  /** Whether it is the host of an agent: on sockets, with a descriptor for its status. */
  isAgentHost?: boolean
}

export type SpawnFailure = { errno: string; message: string }

/** `hasRun`: it began, but nobody could have looked after it, so it was ended at once. */
export type StartFailure = SpawnFailure & { hasRun: boolean }

/** Its exit, where that has been taken from the kernel already. */
export type AdoptedFacts = { terminal: TerminalSize | null; exit: Exit | null }

export interface Spawner {
  readonly containment: ContainmentMode
  spawn(launch: Launch): Result<Child, StartFailure>
  /**
   * A child that the program before this one has started. Nothing is read or written yet, and its
   * descriptors stay open: that program may have to go on with it.
   */
  adopt(id: ExecutionId, child: HandedChild, known: AdoptedFacts): Child
  /** Ends such a child, when nobody can go on with it. */
  endUnadopted(id: ExecutionId, child: HandedChild): void
}

/** What was ended of a tree whose keeper had died. */
export type Sweep = { ended: number; survivors: Survivor[] }

export type Program = { path: string; realPath: string }

export interface Programs {
  /** Finds what would be executed: a path as it stands, a bare name along PATH. */
  locate(name: string, path: string, cwd: string): Result<Program, SpawnFailure>
  /** Every file that starting it loads by name; the failure says why that cannot be told. */
  filesOf(program: Program, path: string): Result<ProgramFiles, SpawnFailure>
  /** Where a path really leads, if a child can be started there. */
  directory(path: string): Result<string, SpawnFailure>
}

export interface Child {
  readonly leader: ProcessIdentity
  readonly exited: Promise<Exit>
  /** A terminal has one output, `stdout`. */
  readonly outputs: ReadonlyArray<{ stream: StreamName; output: ChildOutput }>
  readonly input: ChildInput | null
  /** Where the host of an agent tells how it stands; null for every other child. */
  readonly status: ChildOutput | null
  readonly tree: ProcessTree
  resize(size: TerminalSize): void
  use(): ResourceUse
  /** Whether the kernel ended a member because its memory limit was reached. */
  ranOutOfMemory(): boolean
  /** Whether its exit has been taken from the kernel, be it told already or not. */
  hasBeenWaitedFor(): boolean
  /**
   * Leaves it to the program that takes this process over: its outputs are read up to what was
   * taken from them already, its input takes no more, and the descriptors named stay open.
   */
  handOver(): HandedChild
  /** Closes every descriptor and forgets the tree. The tree must be empty or given up. */
  [Symbol.dispose](): void
}

export interface ChildOutput {
  /**
   * The next bytes, at most a pipe's worth, which the caller may free; null at the end. What is not
   * asked for stays there.
   */
  read(): Promise<Uint8Array | null>
  /** Gives up on a pipe that a survivor holds open: a pending read answers null. */
  cancel(): void
  /** What was taken from it already is still read, then null; null here when it has ended. */
  handOver(): number | null
}

export interface ChildInput {
  /** Resolves with the bytes the pipe took: fewer than given only when the child closed it. */
  write(bytes: Uint8Array): Promise<number>
  /** The child reads the end of its input. */
  close(): void
}

/** Every process that descends from a leader, wherever it went. */
export interface ProcessTree {
  /** The live ones; zombies are not alive. */
  members(): ProcessIdentity[]
  /** Sends a signal to every member; says how many it reached. */
  signal(signal: number): number
  /** Resolves when no member runs. */
  freeze(): Promise<void>
  thaw(): void
  /** Whom `thaw` would wake, where that is not the kernel's to know. */
  frozen(): ProcessIdentity[]
  describe(process: ProcessIdentity): Survivor
}

// --- record ------------------------------------------------------------------------------------

export type AppendOutcome =
  | { kind: "appended" }
  /** Nothing of the rest is in the record; what came before it is. */
  | { kind: "disk-full"; rest: Uint8Array }
  /** The same, and it may work in a moment: there is no descriptor for the next file, say. */
  | { kind: "short"; rest: Uint8Array; error: unknown }

export interface TranscriptWriter {
  facts(): TranscriptFacts
  /** One call may make several records; each is whole on disk or not there at all. */
  append(stream: StreamName, bytes: Uint8Array, time: Date): AppendOutcome
  /** A change of the terminal's size, recorded between the bytes around it. */
  appendResize(size: TerminalSize, time: Date): AppendOutcome
  /** Output that was read but could not be recorded: only counted. */
  discard(bytes: Uint8Array): void
  /** Whether a further append would exceed the budget and have to forget something. */
  isFull(): boolean
  /** Forgets whole segments before the place; the newest too, when that is full and all taken. */
  forgetBefore(place: Position): void
  hashes(): TranscriptHashes
  handOver(): HandedTranscript
  /** Everything appended so far survives a loss of power. */
  sync(): Promise<void>
  [Symbol.dispose](): void
}

/** Takes what the user's patterns match out, before it reaches the disk. */
export interface Redaction {
  /** Names the patterns: two that have the same name take out the same. */
  readonly fingerprint: string
  /** Anew, or from where another one was handed over. */
  stream(handed?: HandedRedactor): OutputRedactor
  text(text: string): { text: string; count: number }
  /** Of words beside each other, in which a match may go from one to the next. */
  words(words: readonly string[]): { words: string[]; count: number }
}

export interface OutputRedactor {
  /** How often something was taken out. */
  readonly count: number
  /** Answers what may be recorded; the beginning of what may be a match is held back. */
  push(bytes: Uint8Array): Uint8Array
  end(): Uint8Array
  handOver(): Omit<HandedRedactor, "stream">
}

export type RecoveredTranscript = {
  facts: TranscriptFacts
  hashes: TranscriptHashes | null
  truncatedBytes: number
}

/** What all transcripts together have taken, since this process began. */
export type RecordedTotals = Record<StreamName, Count> & {
  forgotten: Count // for a budget
  unrecorded: Count // for want of disk, or past a limit of output
}

export interface TranscriptStore {
  readonly totals: RecordedTotals
  create(
    id: ExecutionId,
    budget: Budget,
    onForget: (facts: TranscriptFacts) => void,
  ): TranscriptWriter
  /**
   * Goes on with what another program has written, up to the place it named. Resolves when what was
   * written has been gone through, for the hashes of its streams.
   */
  resume(
    id: ExecutionId,
    budget: Budget,
    handed: HandedTranscript & { facts: TranscriptFacts },
    onForget: (facts: TranscriptFacts) => void,
  ): Promise<TranscriptWriter>
  /** Cuts an unfinished last record off and says what is left; null when nothing was written. */
  recover(id: ExecutionId): RecoveredTranscript | null
  remove(id: ExecutionId): void
  all(): ExecutionId[]
}

export type IdempotencyEntry = { principal: string; key: string; fingerprint: string }

export interface Journal {
  /** One that goes on with another is linked from that one, in the same transaction. */
  create(
    record: ExecutionRecord,
    idempotency: IdempotencyEntry | null,
    goesOnWith?: ExecutionRecord | null,
  ): void
  /** One transaction: the event, and the record as it is after it. */
  append(event: ExecutionEvent, record: ExecutionRecord): void
  /** The record changed, the state did not. */
  update(record: ExecutionRecord): void
  /** The end: its events, record and receipt at once, so that no end is without its receipt. */
  end(events: readonly ExecutionEvent[], record: ExecutionRecord, receipt: SignedReceipt): void
  find(id: ExecutionId): ExecutionRecord | null
  findByKey(
    principal: string,
    key: string,
  ): { fingerprint: string; record: ExecutionRecord | null } | null
  /** Executions without an end, oldest first: what a crash left. */
  unfinished(): ExecutionRecord[]
  /** Ended executions whose transcript is still kept, oldest end first. */
  endedWithTranscript(): Array<{ id: ExecutionId; endedAt: string; bytes: number }>
  /** The same, by whom they were started. */
  endedByPrincipal(): Array<{ id: ExecutionId; principal: string; bytes: number }>
  transcriptRemoved(id: ExecutionId): void
  remove(id: ExecutionId): void
  /** An execution that could not be started never was: neither it nor its key is remembered. */
  withdraw(
    id: ExecutionId,
    idempotency: IdempotencyEntry | null,
    goesOnWith?: ExecutionRecord | null,
  ): void
  /** Records and keys past their time; answers how many went. */
  expire(before: { recordsEndedBefore: Date; keysBefore: Date }): number
  /** Everything written so far survives a loss of power, not only the death of this process. */
  sync(): Promise<void>
}

export interface ReceiptSigner {
  sign(record: ExecutionRecord): SignedReceipt
}

export interface Audit {
  /** Adds a line to the audit trail. What cannot be written is counted, and told later. */
  note(note: AuditNote): void
}

// --- the gateway ---------------------------------------------------------------------------------

export type Gateway = {
  pid: number
  send(message: KeeperMessage): void
  kill(signal: "SIGTERM" | "SIGKILL"): void
  exited: Promise<string> // how it ended, for the log
}

export type StartGateway = (received: (message: unknown) => void) => Gateway
