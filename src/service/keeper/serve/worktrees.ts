import type { Config } from "../../../config/config.ts"
import { tryParseJson } from "../../../lib/parse-json.ts"
import { fail, ok } from "../../../lib/result.ts"
import { WorktreeAnswer } from "../../../protocol/worktree.ts"
import { runToEnd } from "../../os/children/run-to-end.ts"
import { thisProgram } from "../../os/own-program.ts"
import { type WorktreePorts, Worktrees } from "../agents/worktrees.ts"
import { Planner } from "../starting/planner.ts"
import { agentPorts } from "./agent-ports.ts"
import type { ServiceStorage } from "./open-storage.ts"
import type { ProcessControl } from "./process-control.ts"
import { fingerprint, keeperSettings } from "./settings.ts"

/** A large checkout takes its time; nothing waits for it but who has asked. */
const limitMs = 600_000

export function openWorktrees(
  { keeper, audited }: Pick<WorktreePorts, "keeper" | "audited">,
  config: Config,
  { policy, journal, redaction }: Pick<ServiceStorage, "policy" | "journal" | "redaction">,
  machine: Pick<ProcessControl, "containment" | "reaper">,
  self: readonly string[],
): Worktrees {
  const { plan } = keeperSettings(config, policy.rules, machine.containment)
  const { programs } = policy
  return new Worktrees({
    keeper,
    audited,
    store: journal,
    keys: { redaction, fingerprint },
    planner: new Planner(plan, { ...agentPorts(self), programs }),
    async runHelper(request, { argv: [git = "git"], env, user }) {
      const argv = [...thisProgram(self), "__worktree", git, JSON.stringify(request)]
      const limits = { limitMs, isGivenUp: () => false }
      const end = await runToEnd(argv, env, machine, limits, user)
      if (end === null) return fail(`It took git longer than ${limitMs / 60_000} minutes.`)
      if ("failure" in end) return fail(`Git could not be run: ${end.failure}.`)
      const answer = WorktreeAnswer.safeParse(tryParseJson(end.text))
      if (!answer.success) {
        const said = end.said.trim().slice(-500)
        return fail(`Git could not be run: exit code ${end.exitCode}. ${said}`)
      }
      return "refused" in answer.data ? fail(answer.data.refused) : ok(answer.data.done)
    },
  })
}
