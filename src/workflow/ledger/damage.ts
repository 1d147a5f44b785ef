/** What is wrong with a ledger, in words; `line` is null where something is missing. */
export type Damage = { line: number | null; kind: DamageKind; reason: string }

/** What is wrong with one line by itself. */
export type LineFault = Pick<Damage, "kind" | "reason">

type DamageKind =
  | "unreadable" // no attestation of ours
  | "key" // signed by a key that is not trusted
  | "signature" // edited after it was signed
  | "work" // about another file or another work
  | "chain" // of another chain, or not what the next one says comes before it
  | "duplicate"
  | "order"
  | "missing" // deleted, or still under way where no journal can tell
  | "cut-off" // its end is gone, as the journal says
  | "receipt" // a receipt inside does not verify, or is of something else
  | "verdict" // not what follows from what is inside

export function damageText({ line, reason }: Damage): string {
  return line === null ? reason : `line ${line}: ${reason}`
}
