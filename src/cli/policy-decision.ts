/** What would become of a request, as the service would decide it. */
export type PolicyDecision = {
  policy: "everything" | "allow-list"
  allowed: boolean
  /** Null where it is allowed. */
  why: string | null
  /** Which rule refused it, where one did. */
  rule: string | null
  /** The file that would be executed and its interpreters; null where nothing was found. */
  files: readonly string[] | null
  cwd: string | null
  run_as: { uid: number; gid: number; user: string | null } | null
  /** Names of what the child gets: the base, and what the request adds. */
  environment: { base: string[]; added: string[] }
  warnings: string[]
}

/** For people, one fact a line. */
export function decisionLines(decision: PolicyDecision): string[] {
  const { files, cwd, run_as: user, environment } = decision
  const [program, ...interpreters] = files ?? []
  const facts = [
    ["policy", decision.policy],
    ["rule", decision.rule],
    ["program", program ?? null],
    ["interpreter", interpreters.length === 0 ? null : interpreters.join(", ")],
    ["directory", cwd],
    ["user", user === null ? "the service's own" : userText(user)],
    ["environment", namesText(environment.base)],
    ["added", environment.added.length === 0 ? null : namesText(environment.added)],
  ] as const
  return [
    decision.allowed ? "allowed" : `REFUSED: ${decision.why}`,
    ...facts.flatMap(([name, text]) => (text === null ? [] : [`${name.padEnd(11)}  ${text}`])),
    ...decision.warnings.map((warning) => `${"warning".padEnd(11)}  ${warning}`),
  ]
}

function userText({ uid, gid, user }: NonNullable<PolicyDecision["run_as"]>): string {
  return user === null ? `uid ${uid}, gid ${gid}` : `${user} (uid ${uid}, gid ${gid})`
}

function namesText(names: readonly string[]): string {
  return names.length === 0 ? "nothing" : names.join(" ")
}
