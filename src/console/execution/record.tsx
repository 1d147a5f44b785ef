import { useSignal } from "@preact/signals"
import { onOneLine } from "../../lib/harmless-text.ts"
import type { ExecutionView } from "../../protocol/execution-view.ts"
import type { ResultOf } from "../../protocol/methods.ts"
import { useConsole } from "../live/use-console.ts"
import { useTask } from "../live/use-task.ts"
import { bytesText, countText, durationText, momentText } from "../parts/format.ts"

/** What is on record of an execution, in words, and whether the record is sound. */
export function RecordPart({ view }: { view: ExecutionView }) {
  return (
    <section class="record" aria-label="Record">
      <dl>
        {factsOf(view).map(([name, text]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{onOneLine(text)}</dd>
          </div>
        ))}
      </dl>
      <Verification view={view} />
    </section>
  )
}

function Verification({ view }: { view: ExecutionView }) {
  const { client } = useConsole()
  const verdict = useSignal<ResultOf<"transcript.verify"> | null>(null)
  const receipt = useSignal<string | null>(null)
  const task = useTask()
  const { execution_id, state } = view
  const verify = () =>
    task.run(async () => {
      verdict.value = await client.call("transcript.verify", { execution_id })
      if (state !== "ended") return
      const signed = await client.call("receipt", { execution_id })
      receipt.value = JSON.stringify(signed, null, 2)
    })
  const found = verdict.value
  return (
    <div class="verification">
      <h2>Is the record sound?</h2>
      <p>
        Every piece of output is in a chain of hashes; at the end, a receipt is signed over the last
        one.
      </p>
      <button type="button" disabled={task.isBusy} onClick={verify}>
        {task.isBusy ? "Verifying…" : "Verify"}
      </button>
      {task.failure !== null && <p role="alert">{task.failure}</p>}
      {found !== null && (
        <p role="status" class={found.verified ? "state good" : "state bad"}>
          {verdictText(found)}
        </p>
      )}
      {receipt.value !== null && (
        <details>
          <summary>The signed receipt</summary>
          <p>Keep it elsewhere, and check it with `cc-executor receipt --verify FILE`.</p>
          <pre tabIndex={0}>{receipt.value}</pre>
        </details>
      )}
    </div>
  )
}

function verdictText({ verified, chain, reason }: ResultOf<"transcript.verify">): string {
  if (!verified) return onOneLine(reason ?? `The chain is ${chain}.`)
  const kept = chain === "intact" ? "" : ` (${chain}: what came before was dropped)`
  return `Sound${kept}: what is on disk is what was written.`
}

function factsOf(view: ExecutionView): [string, string][] {
  const { argv, cwd, ending, hashes, dropped, budget, limits, bytes, survivors } = view
  const optional = (name: string, text: string | null): [string, string][] =>
    text === null ? [] : [[name, text]]
  return [
    ["Id", view.execution_id],
    ["Started by", view.principal],
    ["Program", argv.map((word) => JSON.stringify(word)).join(" ")],
    ["Directory", cwd],
    ["Asked for", momentText(view.created_at)],
    ...optional("Started", view.started_at && momentText(view.started_at)),
    ...optional("Ended", view.ended_at && momentText(view.ended_at)),
    ["Ran for", `${durationText(view.execution_time * 1000)}, not counting pauses`],
    ...optional("End", ending && endText(ending)),
    ["Output", `${bytesText(bytes.stdout)} on stdout, ${bytesText(bytes.stderr)} on stderr`],
    ["Dropped", `${countText(dropped.lines)} lines, ${bytesText(dropped.bytes)}`],
    ["Budget", `${bytesText(budget.bytes)}, then ${policyText(budget.policy)}`],
    ...optional("Memory", limits.memory === null ? null : `at most ${bytesText(limits.memory)}`),
    ["Processes", view.containment === "cgroup" ? "held by a cgroup" : "found by searching"],
    ...optional("Survivors", survivors.length === 0 ? null : `${survivors.length}`),
    ...optional("Hash of everything", hashes && hashes.chain),
  ]
}

function policyText(policy: ExecutionView["budget"]["policy"]): string {
  return policy === "block" ? "it waits" : "the oldest is dropped"
}

function endText({
  outcome,
  exit_code,
  signal,
  cause,
  reason,
}: NonNullable<ExecutionView["ending"]>) {
  const words = [
    outcome,
    exit_code === null ? null : `with exit code ${exit_code}`,
    signal === null ? null : `by ${signal}`,
    cause === null ? null : `because of ${cause}`,
    reason,
  ]
  return words.filter((word) => word !== null).join(" ")
}
