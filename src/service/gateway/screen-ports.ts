import type { ExecutionRecord, TranscriptFacts } from "../../execution/record.ts"
import type { Scope } from "../../execution/scope.ts"
import type { TerminalSize } from "../../execution/spec.ts"
import type { Result } from "../../lib/result.ts"
import type { Failure } from "../../protocol/failure.ts"
import type { ParsedParamsOf, ResultOf } from "../../protocol/methods.ts"
import type { Screen, ScreenForm } from "../../protocol/screen.ts"
import type { FromScreens, ReadPosition, ToScreens } from "../../protocol/screens-ipc.ts"
import type { Caller } from "../access/caller.ts"

export type ScreenQuestion = { scrollback: number; form: ScreenForm }

/** A screen, and where output goes on after it. */
export type ScreenAt = { screen: Screen; position: ReadPosition }

/** The size of a writer's own terminal, until it leaves; it counts from its first change on. */
export interface DeclaredSize extends Disposable {
  change(size: TerminalSize): Promise<Result<Record<string, never>, Failure>>
}

/** What callers may ask of the terminals of executions. */
export interface ScreenOperations<Feed> {
  /** What it shows, and the cursor after that. */
  screen(
    caller: Caller,
    params: ParsedParamsOf<"screen">,
  ): Promise<Result<ResultOf<"screen">, Failure>>
  /** The same to begin with, and the output that comes after it, with the sizes of the terminal. */
  openScreen(
    caller: Caller,
    executionId: string,
    scrollback: number,
    scope: Scope,
  ): Promise<Result<{ screen: Screen; feed: Feed }, Failure>>
  /** The terminal is as large as fits on those of all its drivers who have said a size. */
  declareSize(feed: Feed, size: TerminalSize): DeclaredSize
}

/** What terminals show. */
export interface Screens {
  /** Keeps the screen of a live execution, and answers its queries, until it has ended. */
  follow(record: ExecutionRecord): void
  /** With everything on it that these facts know of. */
  screenOf(
    record: ExecutionRecord,
    facts: TranscriptFacts,
    question: ScreenQuestion,
  ): Promise<Result<ScreenAt, Failure>>
}

/** The process that keeps screens, as long as it runs. */
export interface ScreensProcess {
  send(message: ToScreens): void
  kill(): void
  residentBytes(): number | null
  readonly exited: Promise<void>
}

export type StartScreensProcess = (received: (message: FromScreens) => void) => ScreensProcess
