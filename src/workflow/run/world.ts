import { join } from "node:path"
import type { Client } from "../../client/connect.ts"

type Environment = Readonly<Record<string, string | undefined>>

/** What whoever works on a work needs of the world around it. */
export type World = {
  readonly client: Client
  /** Of whoever asks: acts get it, checks do not. */
  readonly environment: Environment
  /** What attestations are trusted by, in PEM: the service's own key, and those a person names. */
  publicKeys(): readonly string[]
  /** Where places for trials are made: see `placesRoot`. */
  readonly places: string
  /** The service's directory: like the places, it is never part of what is copied. */
  readonly stateDirectory: string
  /** The trial that whoever asks is part of, as the environment says; null for none. */
  readonly within: string | null
  now(): Date
}

export function placesRoot({ env, home }: { env: Environment; home: string }): string {
  const cache = env["XDG_CACHE_HOME"] ?? ""
  return join(cache.startsWith("/") ? cache : join(home, ".cache"), "cc-executor", "work")
}
