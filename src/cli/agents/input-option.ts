import { z } from "zod"
import { tryParseJson } from "../../lib/parse-json.ts"
import { UsageFailure } from "../failure.ts"

const Input = z.record(z.string(), z.unknown())

/** A tool's input, as `--input` has it. */
export function inputOption(text: string): Record<string, unknown> {
  const input = Input.safeParse(tryParseJson(text))
  if (input.success) return input.data
  throw new UsageFailure(`--input: not a JSON object: ${text.slice(0, 100)}`)
}
