import type { RunnerFolder } from "./runner-folder.ts"

/** The directory that a work is about, and fresh copies of it. */
export interface Ground<Kind extends string, Taken extends Snapshot> {
  /** Where checks would run if they ran in the user's own directory. */
  readonly directory: string
  readonly kind: Kind
  /** What is there now, uncommitted or not. It can be used as long as `folder` is there. */
  snapshot(work: WorkFiles, folder: RunnerFolder): Promise<Taken>
}

/** Both relative to the ground's directory. */
export type WorkFiles = {
  readonly file: string
  /** What stands in it without what this program has written: that does not make other files. */
  readonly ownText: Uint8Array
  /** Whether another text of it differs only in that. */
  isSame(text: string): boolean
  readonly ledger: string
}

/** The files of a ground at one moment. */
export interface Snapshot {
  /** A digest of all of them, in hexadecimal. */
  readonly tree: string
  /** Puts them into a new directory. */
  place(path: string): Promise<Place>
}

export interface Place {
  readonly path: string
  /** What was written there since, ignored files too; paths relative to the place. */
  changes(): Promise<readonly Change[]>
}

export type Change = { readonly path: string; readonly kind: "written" | "removed" }
