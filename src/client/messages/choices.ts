import { z } from "zod"
import { inputFields } from "./tool-input.ts"

const Choice = z.object({
  question: z.string(),
  multiSelect: z.boolean().optional(),
  options: z.array(z.object({ label: z.string(), description: z.string().optional() })).min(1),
})
type Choice = z.infer<typeof Choice>

const Input = z.object({ questions: z.array(Choice).min(1) })

/** What a person is to choose from; null where a question is of another kind. */
export function readChoices(input: unknown): Choice[] | null {
  const read = Input.safeParse(input)
  return read.success ? read.data.questions : null
}

/** The input, as it was, with what was chosen, by question. */
export function chosenInput(
  input: unknown,
  answers: Readonly<Record<string, string>>,
): Record<string, unknown> {
  return { ...inputFields(input), answers }
}
