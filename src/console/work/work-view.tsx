import { useComputed, useSignal, useSignalEffect } from "@preact/signals"
import type { Client } from "../../client/connect.ts"
import { countsAs } from "../../execution/trial/announcement.ts"
import { messageOf } from "../../lib/errno.ts"
import { onOneLine } from "../../lib/harmless-text.ts"
import { ignoreUnhandledRejection } from "../../lib/ignore-unhandled-rejection.ts"
import type { TrialEntry } from "../../protocol/trial.ts"
import { useConsole } from "../live/use-console.ts"
import { momentText } from "../parts/format.ts"
import type { Tone } from "../parts/state-words.ts"
import { addressOf } from "../place.ts"

/** The trials of one file: of a prompt, or of the tasks of a list. */
type Chain = { chain: string; trials: readonly TrialEntry[] }

/** Prompts, task lists and fixes of which trials have run, with the verdicts that count. */
export function WorkView() {
  const { client, executions } = useConsole()
  const chains = useSignal<readonly Chain[] | null>(null)
  const failure = useSignal<string | null>(null)
  const latest = useComputed(() => {
    const trials = [...executions.all.value.values()].flatMap(({ trial, state }) =>
      trial === undefined ? [] : [`${trial.id} ${state === "ended" ? "ended" : "live"}`],
    )
    return [...new Set(trials)].toSorted().join("\n")
  })
  useSignalEffect(() => {
    const ids = new Set(latest.value.split("\n").flatMap((line) => line.split(" ")[0] || []))
    const read = readChains(client, ids).then(
      (found) => void (chains.value = found),
      (error: unknown) => void (failure.value = messageOf(error)),
    )
    ignoreUnhandledRejection(read)
  })
  return (
    <>
      <h1>Work</h1>
      {failure.value !== null && <p role="alert">{failure.value}</p>}
      {chains.value === null && failure.value === null && <p class="quiet">Loading…</p>}
      {chains.value?.length === 0 && <FirstWork />}
      {chains.value?.map((one) => (
        <OneWork key={one.chain} {...one} />
      ))}
    </>
  )
}

function FirstWork() {
  return (
    <section class="first-steps">
      <p>
        A prompt proves itself, a box of a task list is ticked and a fix is done, by checks that
        fail before the work and pass after it. The service judges them; what is here is what it has
        signed.
      </p>
      <dl>
        <dt>A task list</dt>
        <dd>
          <pre tabIndex={0}>cc-executor tasks new release && cc-executor tasks run release.md</pre>
        </dd>
        <dt>The fixes of a review</dt>
        <dd>
          <pre tabIndex={0}>cc-executor review fix executor/001_parser_fixes.json</pre>
        </dd>
        <dt>A prompt</dt>
        <dd>
          <pre tabIndex={0}>
            cc-executor prompt new fix-tests && cc-executor prompt run fix-tests.md
          </pre>
        </dd>
      </dl>
    </section>
  )
}

const kindWords = new Map([
  ["tasks", "task list"],
  ["fixes", "fixes of a review"],
])

function OneWork({ trials }: Chain) {
  const [first] = trials
  if (first === undefined) return null
  const { path, kind } = first.announcement.work
  const items = Map.groupBy(trials, ({ announcement: { work } }) => work.item ?? work.name)
  return (
    <section aria-label={path}>
      <h2>
        {onOneLine(path.split("/").at(-1) ?? path)}{" "}
        <span class="quiet">
          {kindWords.get(kind) ?? onOneLine(kind)}, {onOneLine(path)}
        </span>
      </h2>
      {[...items].map(([item, own]) => (
        <OneItem key={item} item={kind === "fixes" ? `fix ${item}` : item} trials={own} />
      ))}
    </section>
  )
}

/** A prompt or a task: how it stands, how often it passed and failed, and its trials. */
function OneItem({ item, trials }: { item: string; trials: readonly TrialEntry[] }) {
  const counted = trials.flatMap(({ verdict }) =>
    verdict === null ? [] : (countsAs(verdict) ?? []),
  )
  const successes = counted.filter((one) => one === "success").length
  const last = trials.at(-1)
  const { word, tone } = verdictOf(last?.verdict ?? null)
  return (
    <>
      <h3>
        <span class={`state ${tone}`}>{word}</span> {onOneLine(item)}{" "}
        <span class="quiet">
          {successes}:{counted.length - successes}
        </span>
      </h3>
      <ol class="plain trials">
        {trials.toReversed().map((entry) => (
          <OneTrial key={entry.trial} entry={entry} />
        ))}
      </ol>
    </>
  )
}

function OneTrial({ entry }: { entry: TrialEntry }) {
  const { executions } = useConsole()
  const { word, tone } = verdictOf(entry.verdict)
  const steps = [...executions.all.value.values()]
    .filter(({ trial }) => trial?.id === entry.trial)
    .toSorted((one, other) => (one.created_at < other.created_at ? -1 : 1))
  return (
    <li>
      <span class={`state ${tone}`}>{word}</span> {momentText(entry.announcement.announced_at)}
      {steps.map(({ execution_id: id, trial }) => (
        <a
          key={id}
          class="label"
          href={addressOf({ kind: "execution", id, line: null, part: "record" })}
        >
          {trial?.role}
        </a>
      ))}
    </li>
  )
}

function verdictOf(verdict: TrialEntry["verdict"]): { word: string; tone: Tone } {
  switch (verdict) {
    case null:
      return { word: "open", tone: "live" }
    case "PASSED":
      return { word: "passed", tone: "good" }
    case "WARNED":
      return { word: "warned", tone: "waits" }
    case "FAILED":
    case "BROKEN":
    case "LOST":
      return { word: verdict.toLowerCase(), tone: "bad" }
  }
}

async function readChains(client: Client, ids: ReadonlySet<string>): Promise<Chain[]> {
  const chains = new Map<string, Chain>()
  const seen = new Set<string>()
  for (const trial of ids) {
    if (seen.has(trial)) continue
    const { chain } = await client.call("trial.status", { trial })
    if (chains.has(chain)) continue
    const trials: TrialEntry[] = []
    let from: number | undefined = 1
    while (from !== undefined) {
      const page: { trials: TrialEntry[]; next?: number | undefined } = await client.call(
        "trial.list",
        { chain, from, limit: 100 },
      )
      trials.push(...page.trials)
      from = page.next
    }
    for (const one of trials) seen.add(one.trial)
    chains.set(chain, { chain, trials })
  }
  return [...chains.values()]
}
