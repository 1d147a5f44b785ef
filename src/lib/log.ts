/**
 * What everything that logs is given. An event is a fixed message, so that it can be counted and
 * searched for; what varies are its facts, with camelCase names that end in their unit. An error is
 * the fact `err`.
 */
export interface Log {
  debug(facts: Facts, event: string): void
  info(facts: Facts, event: string): void
  warn(facts: Facts, event: string): void
  error(facts: Facts, event: string): void
}

/** Every line has these names already, and a name that comes twice in an object hides one value. */
type Taken = "level" | "time" | "process" | "processId" | "msg"
export type Facts = { readonly [name: string]: unknown } & { readonly [Name in Taken]?: never }
