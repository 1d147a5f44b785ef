import { expect, setDefaultTimeout, test } from "bun:test"
import fc from "fast-check"
import { signalsOf } from "../../../src/agent/claude/read-message.ts"
import { StatusChannel } from "../../../src/agent/host/status-channel.ts"
import { HostMessage } from "../../../src/protocol/agent-host.ts"
import { mostStatusBytes } from "../../../src/protocol/agent-orders.ts"
import { byScale, seed } from "../../support/scale.ts"
import { StagedSession } from "../host/scripted-agent.ts"

setDefaultTimeout(byScale({ short: 30_000, full: 120_000, long: 600_000 }))

const types = [
  "system",
  "assistant",
  "stream_event",
  "rate_limit_event",
  "control_request",
  "result",
]
const subtypes = ["init", "status", "api_retry", "can_use_tool", "elicitation", "success"]
const events = ["message_start", "message_delta", "content_block_delta"]
const fields = [
  ..."message event usage request rate_limit_info modelUsage unifiedWindows five_hour".split(" "),
  ..."input_tokens output_tokens cache_read_input_tokens inputTokens contextWindow".split(" "),
  ..."costUSD total_cost_usd attempt max_retries retry_delay_ms error error_status".split(" "),
  ..."resetsAt rateLimitType status utilization request_id tool_name input title".split(" "),
  ..."description permission_suggestions agent_id session_id model permissionMode".split(" "),
  ..."claude_code_version result duration_ms content __proto__".split(" "),
]

/** What a field may hold that was meant for something else. */
const odd = fc.constantFrom<unknown>(
  0,
  -1,
  1.5,
  1e20,
  1e300,
  -1e300,
  253_402_300_800,
  null,
  true,
  "",
  "x",
  "five_hour",
  ..."\ud800 \u001b[2J rejected used_up".split(" "),
  "T".repeat(70_000),
  "\u0000".repeat(20_000),
)

const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    odd,
    fc.dictionary(fc.constantFrom(...fields), tie("value"), { maxKeys: 8 }),
    fc.array(tie("value"), { maxLength: 3 }),
  ),
}))

const message = fc
  .record({
    type: fc.constantFrom(...types),
    subtype: fc.constantFrom(...subtypes),
    more: fc.dictionary(fc.constantFrom(...fields), value, { minKeys: 3, maxKeys: 8 }),
    inside: fc.record({
      subtype: fc.constantFrom(...subtypes),
      type: fc.constantFrom(...events),
      more: fc.dictionary(fc.constantFrom(...fields), value, { minKeys: 3, maxKeys: 8 }),
    }),
  })
  .map(({ more, inside: { more: deeper, ...inside }, ...rest }) => {
    const part = { ...deeper, ...inside }
    const parts = { request: part, event: part, rate_limit_info: part, modelUsage: { m: part } }
    return { request_id: "r", ...more, ...parts, ...rest }
  })

test("whatever a program says, how its session stands is told in a form that is understood", () => {
  fc.assert(
    fc.property(fc.array(message, { minLength: 1, maxLength: 20 }), (messages) => {
      const stage = new StagedSession({}, "begin")
      const told: string[] = []
      const channel = new StatusChannel(
        (bytes) => void told.push(Buffer.from(bytes).toString("utf8")),
        stage.clock,
        () => stage.session.status(),
        () => undefined,
      )
      stage.process.say({ kind: "ready" })
      for (const one of messages) stage.process.say(...signalsOf(JSON.parse(JSON.stringify(one))))
      channel.flush()

      const text = told.at(-1) ?? ""
      expect(text.length).toBeLessThanOrEqual(mostStatusBytes)
      expect(HostMessage.safeParse(JSON.parse(text)).error?.message).toBeUndefined()
    }),
    { numRuns: byScale({ short: 30, full: 300, long: 3000 }), seed, endOnFailure: true },
  )
})
