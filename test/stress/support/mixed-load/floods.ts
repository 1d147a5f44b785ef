import type { Encoding } from "../../../../src/protocol/execute.ts"
import {
  type Digest,
  fixture,
  type IndependentRun,
  runIndependently,
} from "../../../support/independent-run.ts"
import type { Truth } from "./told-truth.ts"
import { pick, type Stage } from "./work.ts"

/** A bounded flood, and what is in it. */
export type Flood = { argv: string[]; isText: boolean; truth: Truth & { stdout: Digest } }

const commands: ReadonlyArray<{ argv: string[]; isText: boolean }> = [
  { argv: ["seq", "1", "1000000"], isText: true },
  { argv: ["sh", "-c", "yes | head -c 9000000"], isText: true },
  { argv: ["sh", "-c", "seq 1 400000; seq 1 300000 >&2; exit 6"], isText: true },
  { argv: fixture("noise.ts", 7_000_001), isText: false },
  { argv: fixture("mixed-text.ts", 5, 1_200_000), isText: true },
]

let floods: Promise<Flood[]> | null = null

/** Each of them is run once with nobody in between, before there is any load. */
export async function knownFloods(): Promise<Flood[]> {
  floods ??= Promise.all(
    commands.map(async (command) => ({
      ...command,
      truth: truthOf(await runIndependently(command.argv)),
    })),
  )
  return floods
}

export async function pickFlood(stage: Stage): Promise<Flood & { encoding: Encoding }> {
  const flood = pick(stage, await knownFloods())
  return { ...flood, encoding: pick(stage, encodingsOf(flood)) }
}

export function encodingsOf({ isText }: Pick<Flood, "isText">): Encoding[] {
  return isText ? ["utf8", "base64", "binary"] : ["base64", "binary"]
}

function truthOf({ stdout, stderr, exitCode }: IndependentRun): Flood["truth"] {
  return { ending: { outcome: "exited", exit_code: exitCode }, stdout, stderr }
}
