import { describe, expect } from "bun:test"
import { cpuSecondsOf } from "../../scripts/bench/process-cost.ts"
import { bash, processesOf } from "../support/agent-facts.ts"
import { AgentStage } from "../support/agent-stage.ts"
import { noClaudeCode } from "../support/claude-code.ts"
import type { Conversation } from "../support/conversation.ts"
import { memoryOf, privateMbOf } from "../support/memory-of.ts"
import type { ModelStep } from "../support/messages-api.ts"
import { onlyInFull } from "../support/scale.ts"
import { testUnless } from "../support/test-unless.ts"

/** Ten of the real program take two gigabytes and most of a minute. */
const count = 10
const mostServiceMb = 100
const mostHostMb = 15
const mostShareOfCore = 0.01
const idleMs = 20_000

describe(`${count} sessions of Claude Code at once`, () => {
  testUnless(
    noClaudeCode ?? onlyInFull,
    "work side by side, and cost the service and their hosts little",
    async () => {
      const model = (conversation: Conversation): ModelStep =>
        conversation.uses.length < conversation.turns
          ? bash(`seq ${conversation.turns * 1000}`)
          : { say: `Turn ${conversation.turns} is done.` }
      await using stage = await AgentStage.set(model)
      const args = ["--allowedTools", "Bash"]
      const ids = await Promise.all(
        Array.from({ length: count }, (_, n) => stage.start({ prompt: `begin ${n}`, args })),
      )
      for (const id of ids) await stage.whenTurnEnded(id)
      await Promise.all(
        ids.map((execution_id) => stage.client.call("agent.send", { execution_id, text: "again" })),
      )
      for (const id of ids) await stage.whenTurnEnded(id, 2)
      const hosts = await Promise.all(
        ids.map(async (execution_id) => (await stage.client.call("status", { execution_id })).pid),
      )
      const cpuOf = () => hosts.map((pid) => cpuSecondsOf(pid ?? 0))
      const before = cpuOf()
      await Bun.sleep(idleMs) // what they use while nothing happens is what this is about
      const shares = cpuOf().map((after, index) => {
        return (after - (before[index] ?? 0)) / (idleMs / 1000)
      })
      const memory = hosts.map((pid) => privateMbOf(pid ?? 0))
      const keeper = memoryOf(stage.service.pid)
      const gateway = memoryOf(stage.service.gatewayPid)

      console.log(`hosts at most ${Math.max(...memory).toFixed(1)} MB of their own`)
      console.log(`hosts at most ${(Math.max(...shares) * 100).toFixed(2)} % of a core, idle`)
      console.log(`keeper at most ${keeper.peakMb.toFixed(1)} MB`)
      console.log(`gateway at most ${gateway.peakMb.toFixed(1)} MB`)
      expect(Math.max(...memory)).toBeLessThan(mostHostMb)
      expect(Math.max(...shares)).toBeLessThan(mostShareOfCore)
      expect(keeper.peakMb).toBeLessThan(mostServiceMb)
      expect(gateway.peakMb).toBeLessThan(mostServiceMb)
      for (const id of ids) {
        const status = await stage.status(id)
        expect(status?.last_turn).toMatchObject({ outcome: "success", result: "Turn 2 is done." })
        await stage.client.call("control", { type: "CANCEL", execution_id: id })
        expect(processesOf(id)).toEqual([])
      }
    },
    300_000,
  )
})
