import { z } from "zod"
import { ExecutionId } from "../execution/id.ts"
import { Position, TranscriptFacts } from "../execution/record.ts"
import { TerminalSize } from "../execution/spec.ts"
import { Failure } from "./failure.ts"
import { Screen, ScreenForm } from "./screen.ts"

/** What the gateway and the process that keeps screens say to each other. */

const Terminal = z.object({
  id: ExecutionId,
  size: TerminalSize.describe("where the transcript says none"),
  facts: TranscriptFacts,
})
export type Terminal = z.infer<typeof Terminal>

/** As the reader of transcripts has it. */
export const ReadPosition = Position.extend({ inside: z.int().min(0) })
export type ReadPosition = z.infer<typeof ReadPosition>

export const ToScreens = z.discriminatedUnion("kind", [
  /** Keep this screen up to date, and answer its program's queries. */
  z.object({
    kind: z.literal("follow"),
    ...Terminal.shape,
    avoid: z.int().nullable().describe("output there was the last that was ever shown: pass it by"),
  }),
  z.object({ kind: z.literal("advance"), id: ExecutionId, facts: TranscriptFacts }),
  /** It has ended. */
  z.object({ kind: z.literal("leave"), id: ExecutionId }),
  z.object({
    kind: z.literal("ask"),
    request: z.int(),
    ...Terminal.shape,
    scrollback: z.int().min(0),
    form: ScreenForm,
  }),
  z.object({ kind: z.literal("ping") }),
])
export type ToScreens = z.input<typeof ToScreens>

export const FromScreens = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("answers"),
    id: ExecutionId,
    answers: z.array(z.object({ at: z.int(), data: z.string().describe("base64") })),
  }),
  z.object({
    kind: z.literal("screen"),
    request: z.int(),
    screen: Screen,
    position: ReadPosition.describe("output before it is on the screen, and nothing after it"),
  }),
  z.object({ kind: z.literal("refusal"), request: z.int(), failure: Failure }),
  /** What it is about to show: the last thing it says if that is too much for it. */
  z.object({ kind: z.literal("showing"), id: ExecutionId, sequence: z.int() }),
  z.object({ kind: z.literal("rests") }),
  z.object({ kind: z.literal("pong") }),
])
export type FromScreens = z.infer<typeof FromScreens>
