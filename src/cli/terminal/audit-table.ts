import { shortId } from "../../execution/id.ts"
import type { Outcome } from "../../execution/state.ts"
import { countText } from "../../lib/count-text.ts"
import type { Attempt, AuditEntry, TrialFacts } from "../../protocol/audit-entry.ts"
import type { AuditText } from "../../service/audit/read-audit.ts"
import type { Context } from "../context.ts"
import { type Colours, coloursFor, type Paint } from "./colours.ts"
import { type Cell, renderTable } from "./table.ts"
import type { Text } from "./terminal-text.ts"

const columns = ["TIME", "WHO", "FROM", "OUTCOME", "REASON", "WHAT"]

export function auditTable(
  context: Pick<Context, "stdout" | "env">,
  lines: Iterable<AuditText>,
): Text[] {
  const colours = coloursFor(context.stdout, context.env)
  const rows = [...lines].map(({ text, entry }) =>
    entry === null ? damagedRow(text, colours) : rowOf(entry, colours),
  )
  return renderTable(columns, rows, context.stdout.width())
}

function rowOf(entry: AuditEntry, colours: Colours): Cell[] {
  const who = "principal" in entry ? (entry.principal ?? "?") : "-"
  const from = "address" in entry ? `${entry.via} ${entry.address}` : "-"
  const reason = ("reason" in entry ? entry.reason : undefined) ?? ""
  const texts = [entry.time, who, from, entry.outcome, reason, whatText(entry)]
  const paints = [colours.dim, colours.cyan, plain, outcomePaint(entry, colours), plain, plain]
  return texts.map((text, index) => ({ text, paint: paints[index] ?? plain }))
}

function damagedRow(text: string, colours: Colours): Cell[] {
  const cells = ["?", "?", "?", "?", ""].map((cell) => ({ text: cell }))
  return [...cells, { text: `unreadable: ${text}`, paint: colours.red }]
}

function outcomePaint({ outcome }: AuditEntry, colours: Colours): Paint {
  switch (outcome) {
    case "allowed":
      return colours.green
    case "refused":
      return colours.red
    case "happened":
      return plain
  }
}

function plain(text: string): string {
  return text
}

/** What an entry is about, in one line. */
function whatText(entry: AuditEntry): string {
  switch (entry.event) {
    case "attempt":
      return attemptText(entry)
    case "execution-ended":
      return `${shortId(entry.execution_id)} ended: ${endText(entry.what)}`
    case "question-decided": {
      const { question_id, by, rule, tool } = entry.what
      const how = by === "deadline" ? `rule ${rule}, after nobody had answered` : `rule ${rule}`
      return `${shortId(entry.execution_id)} ${question_id} ${tool}: by ${how}`
    }
    case "session-restarted":
      return `${shortId(entry.execution_id)} goes on as ${shortId(entry.what.as)}`
    case "session-interrupted":
      return `${shortId(entry.execution_id)} does not go on by itself: ${entry.what.why}`
    case "trial-judged": {
      const { trial, work, sequence, verdict, reason } = entry.what
      return `${shortId(trial)} trial ${sequence} of ${quoted(work)}: ${verdict}, ${reason}`
    }
    case "service-started": {
      const { version, listen, policy, lost } = entry.what
      const left = lost === 0 ? "" : `, ${lost} lost`
      return `service ${version} started on ${listen.join(", ")}, policy ${policy}${left}`
    }
    case "service-ended":
      return `service ended: ${entry.what.why}`
    case "recovered":
      return recoveredText(entry.what)
    case "lines-lost":
      return `${countText(entry.count, "line")} could not be written (${entry.what.why})`
    case "file-began":
      return `a new file began; kept from line ${entry.what.kept_from}`
  }
}

type Recovered = Extract<AuditEntry, { event: "recovered" }>["what"]

function recoveredText({ cut_bytes, set_aside }: Recovered): string {
  const bytes = countText(cut_bytes, "byte")
  if (set_aside === undefined) return `${bytes} after the last intact line cut off`
  return `${bytes} without an intact line set aside as ${set_aside}`
}

function attemptText(attempt: Attempt): string {
  const { method, execution_id, what, message, repeated, count } = attempt
  const times = count === undefined ? "" : `${count} × `
  const which = execution_id === undefined ? "" : ` ${shortId(execution_id)}`
  const again = repeated === true ? " (repeated)" : ""
  const told = message === undefined ? "" : `: ${message}`
  return `${times}${method}${which}${again}${factsText(what)}${told}`
}

function factsText(what: Attempt["what"]): string {
  if (what === undefined) return ""
  if (!("env" in what) && !("type" in what)) return trialText(what)
  if ("type" in what) return ` ${what.type}${what.signal === undefined ? "" : ` ${what.signal}`}`
  const words = what.argv?.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : quoted(word)))
  const command = what.command === undefined ? words?.join(" ") : quoted(what.command)
  return ` ${command ?? ""}${what.cut === undefined ? "" : ` … (${what.cut} more)`}`
}

function trialText({ work, trial, sequence }: TrialFacts): string {
  const number = sequence === undefined ? "" : ` ${sequence}`
  const id = trial === undefined ? "" : ` ${shortId(trial)}`
  return `${work === undefined ? "" : ` ${quoted(work)}`}${number}${id}`
}

function quoted(word: string): string {
  return JSON.stringify(word)
}

function endText(outcome: Outcome): string {
  switch (outcome.kind) {
    case "exited":
      return `exit code ${outcome.exitCode}`
    case "signaled":
      return outcome.signal
    case "stopped":
      return `stopped (${outcome.cause})`
    case "failed-to-start":
      return `could not start: ${outcome.message}`
    case "lost":
      return `lost: ${outcome.reason}`
  }
}
