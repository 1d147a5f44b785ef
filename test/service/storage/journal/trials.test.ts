import { expect, test } from "bun:test"
import { Announcement, TrialDefinition } from "../../../../src/execution/trial/announcement.ts"
import type { SignedAttestation } from "../../../../src/execution/trial/attestation.ts"
import type { TrialStore } from "../../../../src/service/keeper/trial-store.ts"
import { live, queued } from "./sample-executions.ts"
import { temporaryJournal } from "./temporary-journal.ts"

const digest = "d".repeat(64)
const part = { id: "t".repeat(26), step: "red", role: "red" } as const
const announcement = Announcement.parse({
  v: 1,
  trial: part.id,
  chain: null,
  sequence: 1,
  previous: null,
  work: { name: "T01", kind: "prompt", path: "/T01.md" },
  version: digest,
  definition: TrialDefinition.parse({
    steps: [{ id: "red", role: "red", red: "base", cwd: "/", run: "false" }],
  }),
  principal: "me",
  announced_at: "2026-01-01T00:00:00.000Z",
})
const envelope: SignedAttestation = {
  payloadType: "application/vnd.in-toto+json",
  payload: "",
  signatures: [{ keyid: "key", sig: "" }],
}

function begin(trials: TrialStore): void {
  trials.begin({ announcement, chain: digest, digest, leaseMs: 1000, runner: null }, null)
}

test("a step is taken with its execution, once, and given back when that cannot start", () => {
  using opened = temporaryJournal()
  const { journal, reader } = opened
  begin(journal.trials)
  const first = queued({ trial: part })
  journal.create(first, null)

  expect(journal.trials.steps(part.id)).toMatchObject([{ step: "red", executionId: first.id }])
  expect(reader.trial(part.id)?.steps.get("red")).toEqual({
    executionId: first.id,
    hasEnded: false,
  })
  expect(() => journal.create(queued({ trial: part }), null)).toThrow("was started already")
  journal.withdraw(first.id, null)
  expect(journal.trials.steps(part.id)).toEqual([])
})

test("the transcript of a step is kept until its trial has a verdict, which is given once", () => {
  using opened = temporaryJournal()
  const { journal, reader } = opened
  begin(journal.trials)
  const ended = live(journal, queued({ trial: part }))
  const kept = () => journal.endedWithTranscript().map(({ id }) => id)

  expect([kept(), journal.trials.isNeeded(ended.id), reader.hasOpenTrials()]).toEqual([
    [],
    true,
    true,
  ])
  journal.trials.end(part.id, "WARNED", envelope)
  expect([kept(), journal.trials.isNeeded(ended.id), reader.hasOpenTrials()]).toEqual([
    [ended.id],
    false,
    false,
  ])
  expect(() => journal.trials.end(part.id, "PASSED", envelope)).toThrow("has its verdict already")
  expect(reader.trial(part.id)?.ended).toEqual({ verdict: "WARNED", envelope })
})

test("no number is given twice", () => {
  using opened = temporaryJournal()
  begin(opened.journal.trials)
  const again = { ...announcement, trial: "u".repeat(26) }
  const other = { announcement: again, chain: digest, digest, leaseMs: 1000, runner: null }
  expect(() => opened.journal.trials.begin(other, null)).toThrow("UNIQUE")
})
