import { z } from "zod"
import type { Failure } from "./failure.ts"

const leastSecretCharacters = 4

/**
 * Why it was refused, without any value of the environment: messages for the caller may hold some,
 * such as the PATH in which a program was not found. Nor does it repeat a name that means nothing
 * here, of which the caller is told no more than the beginning: no pattern finds half a secret.
 */
export function auditMessage(
  { reason, message, details }: Failure,
  env: Record<string, string> = {},
): string {
  const errno = details?.["errno"]
  if (reason === "SPAWN_FAILED" && typeof errno === "string") return couldNotStart(errno)
  if (reason === "METHOD_NOT_FOUND") return "Unknown method or path."
  // A longer one first: it may hold a shorter one.
  const values = Object.entries(env).toSorted(([, a], [, b]) => b.length - a.length)
  return values.reduce(
    (told, [name, value]) =>
      value.length < leastSecretCharacters ? told : told.replaceAll(value, () => `$${name}`),
    message,
  )
}

export function couldNotStart(errno: string): string {
  return `Could not start: ${errno}.`
}

/** Which execution a refused request was about: it says so, or had started one before it failed. */
export function executionAskedAbout(params: unknown, refused: Failure): string | undefined {
  const found =
    WithExecution.safeParse(params).data ?? WithExecution.safeParse(refused.details).data
  return found?.execution_id
}

const WithExecution = z.looseObject({ execution_id: z.string() })
