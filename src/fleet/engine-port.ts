import type { Result } from "../lib/result.ts"
import type { IndexEntry, KeyEntry, NodeEntry, NodeOrder, PlacementEntry } from "./entries.ts"

/** A value as the engine keeps it, with the revision that a change of it must name. */
export type Stored<Value> = { value: Value; revision: number }

export type EngineFailure =
  /** Somebody else was first: what was decided on is not so any more. */
  | { kind: "conflict" }
  /** It was not done, or nobody knows whether it was. */
  | { kind: "unavailable"; why: string }

export type Written = Promise<Result<number, EngineFailure>>

export type Change<Value> = {
  key: string
  /** Null when it was removed. */
  value: Value | null
  revision: number
}

/** Values by their keys: what is read may be old, what is written names what it replaces. */
export interface Table<Value> {
  get(key: string): Promise<Result<Stored<Value> | null, EngineFailure>>
  create(key: string, value: Value): Written
  replace(key: string, value: Value, revision: number): Written
  /** For keys that only one node writes. */
  put(key: string, value: Value): Written
  remove(key: string): Promise<Result<null, EngineFailure>>
  /** Tells what there is, then what changes. Resolves when aborted, rejects when it breaks. */
  watch(
    changed: (change: Change<Value>) => void,
    complete: () => void,
    aborted: AbortSignal,
  ): Promise<void>
}

/** All tables of a fleet. */
export type Tables = {
  readonly nodes: Table<NodeEntry>
  readonly orders: Table<NodeOrder>
  readonly placements: Table<PlacementEntry>
  readonly records: Table<IndexEntry>
  readonly keys: Table<KeyEntry>
}

/** What is known of the engine's promise to keep what it acknowledges. */
export type EngineFacts = {
  servers: Array<{ name: string; version: string; syncsAlways: boolean }>
  /** Of the server this node is connected to; the others' are known only where it may ask. */
  version: string
  replicas: number
}
