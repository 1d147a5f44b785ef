import { shortId } from "../../execution/id.ts"
import { nameOf } from "../../execution/name.ts"
import type { LimitHolder } from "../../execution/spec.ts"
import { countText } from "../../lib/count-text.ts"
import { onOneLine } from "../../lib/harmless-text.ts"
import type { ExecutionView } from "../../protocol/execution-view.ts"
import { flag } from "../arguments.ts"
import { command } from "../command.ts"
import { addressOptions } from "../connect/address.ts"
import { nextCommand } from "../connect/next-command.ts"
import { reach } from "../connect/reach.ts"
import type { Context } from "../context.ts"
import { commandText, exitText, survivorsNotice } from "../executions/execution-text.ts"
import { heldBy, labelText, processText, redactedText } from "../executions/fact-text.ts"
import { durationText, sizeText } from "../time.ts"

export const inspectCommand = command({
  usage: ["inspect [OPTIONS] ID"],
  about: "Shows everything that is known of one execution; --json shows it as the protocol has it.",
  options: { json: flag("print JSON"), ...addressOptions },
  examples: {
    "what is it, and how did it end": "cc-executor inspect 7kq2mfa4",
    "its working directory": "cc-executor inspect --json 7kq2mfa4 | jq -r .cwd",
  },
  operands: { atLeast: 1, atMost: 1, what: "The execution id" },
  async run(context, { values, operands: [id = ""] }) {
    await using reached = await reach(context, values, "with-journal")
    const view = await reached.client.call("status", { execution_id: id })
    if (values.json === true) {
      await context.stdout.write(`${JSON.stringify(view, null, 2)}\n`)
      return 0
    }
    const facts = factsOf(context, view).filter(([, text]) => text !== null && text !== "")
    const width = Math.max(...facts.map(([name]) => name.length)) + 2
    const lines = facts.map(([name, text]) => `${name.padEnd(width)}${text}`)
    await context.stdout.write(`${lines.join("\n")}\n`)
    return 0
  },
})

function factsOf(context: Context, view: ExecutionView): [name: string, text: string | null][] {
  const { bytes, lines, limits, limits_held_by: held, budget, terminal, hashes, trial } = view
  const { name: _name, ...otherLabels } = view.labels
  return [
    ["Id", view.execution_id],
    ["Name", onOneLine(nameOf(view.labels) ?? "")],
    ["Command", commandText({ command: view.command, argv: view.argv })],
    ["Trial", trial === undefined ? null : `${trial.id}, step ${trial.step} (${trial.role})`],
    ["Directory", view.cwd],
    ["State", view.blocked ? `${view.state}, blocked: nobody takes its output` : view.state],
    ["Ended", endText(view)],
    ["Goes on with", view.restart_of ?? null],
    ["Goes on as", view.restarted_as ?? null],
    ["Goes on at", view.restarts_at ?? null],
    ["Interrupted", onOneLine(view.interrupted ?? "")],
    ["Requested by", view.principal],
    ["Process", view.pid === null ? null : `${view.pid}, held together by ${view.containment}`],
    ["Requested at", view.created_at],
    ["Started at", view.started_at],
    ["Ended at", view.ended_at],
    ["Running time", durationText(view.execution_time * 1000)],
    ["Terminal", terminal && `${terminal.cols} × ${terminal.rows}`],
    ["Input", view.stdin === "pipe" ? `open; ${sizeText(view.stdin_bytes)} taken` : null],
    ["Output", `${sizeText(bytes.stdout)} in ${countText(lines.stdout, "line")}`],
    ["Errors", `${sizeText(bytes.stderr)} in ${countText(lines.stderr, "line")}`],
    ["Dropped", view.dropped.bytes === 0 ? null : sizeText(view.dropped.bytes)],
    ["Kept", `at most ${sizeText(budget.bytes)}, then ${budget.policy}`],
    ["Timeouts", timeoutText(view)],
    ["Memory limit", limitText(limits.memory, held.memory, sizeText)],
    ["Processor limit", limitText(limits.cpu, held.cpu, String)],
    ["Process limit", limitText(limits.pids, held.pids, String)],
    ["Output limit", limits.output === null ? null : sizeText(limits.output)],
    ["Labels", labelText(otherLabels)],
    ["Redacted", redactedText(view.redacted)],
    ["Chain", hashes?.chain ?? null],
    ["SHA-256 of output", hashes?.stdout ?? null],
    ["SHA-256 of errors", hashes?.stderr ?? null],
    ["Stopped", processText(view.stopped)],
    ["Left behind, ended", processText(view.killed_after_exit)],
    ["Left running", survivorsNotice(view)],
    ["More", moreText(context, view)],
  ]
}

function endText(view: ExecutionView): string | null {
  const { ending } = view
  if (ending === null) return null
  const how = ending.outcome === "exited" ? `with exit code ${ending.exit_code}` : exitText(view)
  return ending.reason === null ? how : `${how}: ${ending.reason}`
}

function limitText(
  limit: number | null,
  holder: LimitHolder | null,
  say: (limit: number) => string,
): string | null {
  return limit === null ? null : `${say(limit)}${heldBy(holder)}`
}

function timeoutText({ timeout, idle_timeout }: ExecutionView): string | null {
  const wall = timeout === null ? [] : [`${durationText(timeout * 1000)} of running`]
  const idle = idle_timeout === null ? [] : [`${durationText(idle_timeout * 1000)} of silence`]
  return [...wall, ...idle].join(", ")
}

function moreText(context: Context, { execution_id, state }: ExecutionView): string {
  const id = shortId(execution_id)
  const next = state === "ended" ? "receipt" : "attach"
  return `${nextCommand(context, "logs", id)} · ${nextCommand(context, next, id)}`
}
