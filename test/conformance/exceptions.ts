import { readFileSync } from "node:fs"
import { join } from "node:path"
import { z } from "zod"

/** Why a scenario is not expected to pass. */
export type Exception = { kind: "fails" | "is-skipped"; why: string }

export type Exceptions = { path: string; byScenario: ReadonlyMap<string, Exception> }

const Listed = z.array(z.string()).default([])
const File = z.object({ server: Listed, skipped: Listed })

/** Reads a file in the suites' own format, which knows no reasons: they are the lines' comments. */
export function readExceptions(era: "legacy" | "modern"): Exceptions {
  const path = join(import.meta.dir, `expected-failures-${era}.yaml`)
  const source = readFileSync(path, "utf8")
  const { server, skipped } = File.parse(Bun.YAML.parse(source))
  const reasons = new Map(
    [...source.matchAll(/^ +- (\S+) # (\S.*)$/gm)].map(([, scenario, why]) => [scenario, why]),
  )
  const entry = (kind: Exception["kind"]) => (scenario: string) => {
    const why = reasons.get(scenario)
    if (why === undefined) throw new Error(`${path} does not say why ${scenario} is listed`)
    return [scenario, { kind, why }] as const
  }
  return {
    path,
    byScenario: new Map([...server.map(entry("fails")), ...skipped.map(entry("is-skipped"))]),
  }
}
