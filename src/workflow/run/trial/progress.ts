import type { StepRole, TrialVerdict } from "../../../execution/trial/announcement.ts"

/** What happens in a run, as it happens. */
export type Progress =
  | { kind: "trial"; trial: string; sequence: number; item: string | null; steps: number }
  | { kind: "step"; sequence: number; step: string; role: StepRole; execution_id: string }
  | { kind: "step-ended"; sequence: number; step: string; role: StepRole; end: string }
  | {
      kind: "step-output"
      sequence: number
      step: string
      execution_id: string
      /** The last it wrote, of a step that kept the trial from passing. */
      tail: string
    }
  | { kind: "question"; sequence: number; execution_id: string; question_id: string; what: string }
  | {
      kind: "verdict"
      trial: string
      sequence: number
      item: string | null
      verdict: TrialVerdict
      reasons: readonly string[]
      cost_usd: number | null
    }
  | { kind: "note"; text: string }

export type Tell = (progress: Progress) => void
