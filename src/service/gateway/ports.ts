import type { ExecutionId } from "../../execution/id.ts"
import type { NamedExecution } from "../../execution/identify.ts"
import type { SignedReceipt } from "../../execution/receipt.ts"
import type {
  ExecutionRecord,
  Owned,
  Position,
  StreamName,
  TranscriptFacts,
  TranscriptHashes,
} from "../../execution/record.ts"
import type { Scope } from "../../execution/scope.ts"
import type { TerminalSize } from "../../execution/spec.ts"
import type { Verification } from "../../execution/verdict.ts"
import type { Result } from "../../lib/result.ts"
import type { ExecuteParams } from "../../protocol/execute.ts"
import type { Failure } from "../../protocol/failure.ts"
import type {
  ControlResult,
  InputResult,
  ParsedParamsOf,
  ResultOf,
} from "../../protocol/methods.ts"
import type { PolicyKind } from "../../protocol/notifications.ts"
import type { Output } from "../../protocol/output-chunk.ts"
import type { OutputPage, OutputRequest } from "../../protocol/output-page.ts"
import type { Caller } from "../access/caller.ts"
import type { AgentOperations } from "./agent-operations.ts"
import type { NodeOperations } from "./node-operations.ts"
import type { NotifyOperations } from "./notify-operations.ts"
import type { OutboxReader } from "./outbox-port.ts"
import type { ScreenOperations } from "./screen-ports.ts"
import type { TranscriptOperations } from "./transcript-operations.ts"
import type { TrialJournal, TrialOperations } from "./trial-ports.ts"

// --- reading the record ------------------------------------------------------------------------

/** Where a reader is: a record's position, and how much of that record was read already. */
export type ReadPosition = Position & {
  /** Output bytes of the record at `offset` that come before it. */
  inside: number
}

/** Bytes of a split character that a reader has passed but not delivered. */
export type HeldBytes = Record<StreamName, Uint8Array>

/** Where a reader stands, as its cursor says it. */
export type Cursor = { position: ReadPosition; held: HeldBytes }

/** Bytes that were held back, of one record, and what the record says of them. */
export type HeldRun = Pick<Piece, "stream" | "bytes" | "sequence" | "timeMs">

/** What a transcript says of a cursor that a client gave. */
export type Location =
  /** It is one of this transcript. What it held back, oldest first, unless that was dropped. */
  | { kind: "found"; held: HeldRun[]; forgottenBytes: number }
  | { kind: "nowhere"; why: string }
  /** The record is damaged before it: where it stands cannot be told. */
  | { kind: "damaged"; sequence: number; why: string }
  /** It takes longer: ask again after others had their turn. */
  | { kind: "far" }

export type Sizes = "with-sizes" // changes of a terminal's size are told, too
/** Bytes of one stream that lie side by side: the cursor's bread and butter. */
export type Piece = {
  stream: StreamName
  /** Valid until the next read: copy what must stay. */
  bytes: Uint8Array
  /** Output bytes of both streams before this piece. */
  sequence: number
  timeMs: number
  next: ReadPosition
  endsInsideLine: boolean
}

export type ReadOutcome =
  | { kind: "piece"; piece: Piece }
  /** From here on the terminal has this size. Only for who asks for sizes. */
  | { kind: "resized"; size: TerminalSize; next: ReadPosition }
  /** Nothing more up to the given end. */
  | { kind: "at-end" }
  /** That output was dropped; what is kept begins at `next`. */
  | { kind: "forgotten"; next: ReadPosition }
  /** What is on disk is not what was written: told, never passed on. */
  | { kind: "damaged"; sequence: number; why: string }
  /** The transcript is not kept any more. */
  | { kind: "expired" }

export interface TranscriptReader {
  /**
   * The next piece at a position, at most 64 KiB of one stream, or `mostBytes`, cut after its last
   * line end when more follows. Nothing past the end of `facts` is read, and no file stays open.
   */
  read(
    id: ExecutionId,
    position: ReadPosition,
    facts: TranscriptFacts,
    mostBytes?: number,
    sizes?: Sizes,
  ): ReadOutcome
  /**
   * Whether a cursor is one that reading this transcript gives. Nothing may be read at a client's
   * cursor before that: what an execution writes may look like records.
   */
  locate(id: ExecutionId, cursor: Cursor, facts: TranscriptFacts): Location
  /** The position so many lines before the end, where one begins; or so many bytes before it. */
  tail(
    id: ExecutionId,
    facts: TranscriptFacts,
    back: { lines: number } | { bytes: number },
  ): ReadPosition
  /** After so many line ends, from the very beginning; the oldest place if that is gone. */
  line(id: ExecutionId, facts: TranscriptFacts, lines: number): ReadPosition
  /** The first record at or after a time. */
  since(id: ExecutionId, facts: TranscriptFacts, time: Date): ReadPosition
  verify(id: ExecutionId, facts: TranscriptFacts, sought: Sought): Promise<Verification>
}

export type Sought = {
  contains?: Uint8Array | undefined
  /** A text to look for in the log of an agent's session. */
  executed?: string | undefined
  /** What the journal says the hashes are: null while it runs, or when it was lost. */
  hashes: TranscriptHashes | null
}

export interface JournalReader extends TrialJournal {
  readonly outbox: OutboxReader
  find(id: ExecutionId): ExecutionRecord | null
  /** To whom it belongs: much less to read than all of it. */
  owned(id: ExecutionId): Owned | null
  /**
   * Of those a viewer may see: of every principal the live one with this name, or else the latest;
   * of the principal itself, and of some others.
   */
  withName(name: string, principal: string | null, viewer?: Viewer | null): NamedExecution[]
  /** Ids that begin with a prefix, at most `limit` of them; of those a viewer may see. */
  withPrefix(prefix: string, limit: number, viewer?: Viewer | null): ExecutionId[]
  /** Newest first, of those a viewer may see; null when the cursor is not one it gave. */
  list(filter: ParsedParamsOf<"list">, viewer?: Viewer | null, looks?: Looks): ListPage | null
  receipt(id: ExecutionId): SignedReceipt | null
  /** False once retention has removed it; what was never written is not removed. */
  keepsTranscript(id: ExecutionId): boolean
  /** Sessions that ended with the service and have not gone on, oldest first; up to a bound. */
  openRestarts(): ExecutionRecord[]
  /** How many of the executions that have not ended are in each state. */
  countLive(): Partial<Record<ExecutionRecord["state"]["kind"], number>>
}

export type ListPage = { records: ExecutionRecord[]; cursor: string | null }

/** How many executions may still be looked at for a viewer: counted down by whoever looks. */
export type Looks = { left: number }

/** For whom something is looked up, where not everybody may see everything. */
export type Viewer = { principal: string; maySee(owned: Owned): boolean }

/** Where every refusal is told: nothing is refused without a line in the audit trail. */
export interface Refusals {
  refused(refusal: Refusal): void
}

export type Refusal = {
  /** Null for one who did not say who it is, or lied. */
  principal: string | null
  address: string
  via: string
  /** The node of the fleet that spoke for it. */
  node?: string | undefined
  method: string
  failure: Failure
  /** As it was given, whether there is such a one or not. */
  executionId?: unknown
}

/** How a connection ends: for good, or because another gateway takes over from this one. */
export type Parting = "closed" | "replaced"

// --- what a caller may ask -----------------------------------------------------------------------

export type Answer<Value> = Promise<Result<Value, Failure>>

export interface Operations extends ScreenOperations<OutputFeed>, TranscriptOperations {
  /** How strictly an `execute` is read. */
  readonly policy: PolicyKind
  readonly agents: AgentOperations
  readonly trials: TrialOperations
  readonly notify: NotifyOperations
  readonly nodes: NodeOperations
  /** `follow` says that the caller will open its output next: then no update of it is missed. */
  execute(
    caller: Caller,
    params: ExecuteParams,
    follow: boolean,
  ): Answer<{ record: ExecutionRecord; repeated: boolean }>
  control(
    caller: Caller,
    executionId: string,
    order: { type: "PAUSE" | "RESUME" | "CANCEL" | "SIGNAL"; signal?: string | number | undefined },
  ): Answer<ControlResult>
  input(
    caller: Caller,
    executionId: string,
    input: {
      data: Uint8Array<ArrayBuffer>
      end: boolean
      writer?: string | undefined
      offset?: number | undefined
    },
  ): Answer<InputResult>
  resize(caller: Caller, executionId: string, size: TerminalSize): Answer<Record<string, never>>
  remove(caller: Caller, executionId: string): Answer<Record<string, never>>
  list(caller: Caller, params: ParsedParamsOf<"list">): Answer<ResultOf<"list">>
  status(caller: Caller, executionId: string): Answer<ExecutionRecord>
  receipt(caller: Caller, executionId: string): Answer<SignedReceipt>
  /** A page of output without an encoding; `keep` copies what must stay of each piece's bytes. */
  readOutput<Kept>(
    caller: Caller,
    request: OutputRequest,
    keep: (output: Output) => Kept,
  ): Answer<OutputPage<Kept>>
  /**
   * Opens the output of an execution at a cursor, `start` or `tail`. It needs the scope `read`,
   * unless it is opened for more: who drives an execution steers it. The caller disposes it.
   */
  open(caller: Caller, id: string, from: string, scope?: Scope, sizes?: Sizes): Answer<OutputFeed>
  /** The same for what the caller has started this moment: who may not any more is told by it. */
  openStarted(started: ExecutionRecord, caller: Caller): Answer<OutputFeed>
  /**
   * Makes the reader of a feed a driver: whom a blocked child waits for, who holds the lease. What
   * was sent to one that acknowledges is kept until it says so, from the first byte on.
   */
  drive(caller: Caller, feed: DrivenFeed, acknowledges: boolean): Driver
  /** Every change of state the caller may see, until disposed. */
  watch(
    caller: Caller,
    labels: Record<string, string> | undefined,
    changed: (record: ExecutionRecord) => void,
  ): Result<Disposable, Failure>
}

export interface Driver extends Disposable {
  /** How much it may take before it should acknowledge; null when nobody waits for that. */
  readonly ackAfterBytes: number | null
  /** It reads no more for now, but is still there: a child may wait for it, a lease is held. */
  standBy(): void
  /** What the feed has delivered was handed to the driver. */
  sent(): void
  /** The driver says up to where it needs nothing again; false when that is no cursor. */
  acknowledge(cursor: string): boolean
}

/** One reader's way through one execution's output. */
export interface OutputFeed extends Disposable {
  readonly executionId: ExecutionId
  record(): ExecutionRecord
  readonly from: string
  readonly availableFrom: string
  /**
   * What comes next, or null when nothing is there yet: then wait for `advanced`. Text never splits
   * a character; after `ended` comes nothing. Output is of at most so many bytes, where that is
   * said.
   */
  next(form: OutputForm, mostBytes?: number): FeedEvent | null
  /** Calls back, once per change, until disposed. */
  onAdvance(advanced: () => void): Disposable
  /** Where the last event left the reader. */
  cursor(): string
  position(): Position
  /** Output bytes of both streams before what comes next. */
  passedBytes(): number
}

/** As far as it matters to those who drive by it. */
export type DrivenFeed = Pick<OutputFeed, "executionId" | "record" | "position">

export type OutputForm = "text" | "bytes"

export type FeedEvent =
  | ({ kind: "output" } & Output)
  | { kind: "gap"; from: string; next: string; bytes: number; lines: number; reason: string }
  | { kind: "resized"; size: TerminalSize; next: string }
  | { kind: "state"; record: ExecutionRecord }
  | { kind: "ended"; record: ExecutionRecord }
  | { kind: "failed"; failure: Failure }
