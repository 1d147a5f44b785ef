import type { ExecutionRecord, TranscriptFacts } from "../../execution/record.ts"
import type { TerminalSize } from "../../execution/spec.ts"
import type { Result } from "../../lib/result.ts"
import type { Failure } from "../../protocol/failure.ts"
import type { Screen, ScreenForm } from "../../protocol/screen.ts"
import type { FromScreens, ToScreens } from "../../protocol/screens-ipc.ts"
import type { ReadPosition } from "./ports.ts"

export type ScreenQuestion = { scrollback: number; form: ScreenForm }

/** A screen, and where output goes on after it. */
export type ScreenAt = { screen: Screen; position: ReadPosition }

/** The size of a writer's own terminal, until it leaves; it counts from its first change on. */
export interface DeclaredSize extends Disposable {
  change(size: TerminalSize): Promise<Result<Record<string, never>, Failure>>
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
