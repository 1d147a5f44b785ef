import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import type { NamedExecution } from "../../../../src/execution/identify.ts"
import { nameOf } from "../../../../src/execution/name.ts"
import type { ExecutionRecord } from "../../../../src/execution/record.ts"
import { maySee } from "../../../../src/service/access/permission.ts"
import type { JournalReader, Viewer } from "../../../../src/service/gateway/ports.ts"
import { openJournal } from "../../../../src/service/storage/journal/journal.ts"
import { openJournalReader } from "../../../../src/service/storage/journal/journal-reader.ts"
import { bearer } from "../../../support/callers.ts"
import { live, queued } from "./sample-executions.ts"
import { rawRows, succeeded, temporaryJournal } from "./temporary-journal.ts"

function viewer(principal: string): Viewer {
  const caller = bearer(principal, "read")
  return { principal, maySee: (one) => maySee(caller, one) }
}

function owned(principal: string, labels: Record<string, string>): ExecutionRecord {
  const record = queued({ principal })
  return { ...record, spec: { ...record.spec, labels } }
}

/** Whom a principal finds by a name, by owner; an admin sees everything. */
function found(reader: JournalReader, name: string, principal: string, isAdmin = false) {
  return sorted(reader.withName(name, principal, isAdmin ? null : viewer(principal)))
}

function sorted(named: readonly NamedExecution[]): NamedExecution[] {
  return named.toSorted((one, other) => one.principal.localeCompare(other.principal))
}

describe("executions with a name", () => {
  test("are those of each owner that may be seen: the live one, or the latest", () => {
    const principals = fc.constantFrom("alice", "bob", "carol")
    const share = fc.constantFrom(undefined, "alice", "bob, carol", "*", " alice ,*", "")
    const names = fc.constantFrom("a", "b", 'q"u\\o', "", "é\u2028\ud800")
    const one = fc.record({
      principal: principals,
      name: fc.option(names, { nil: undefined }),
      share,
      control: share,
      isShareFirst: fc.boolean(),
      fate: fc.constantFrom("live", "ended", "removed"),
    })
    fc.assert(
      fc.property(fc.array(one, { maxLength: 15 }), (all) => {
        using opened = temporaryJournal()
        const kept: ExecutionRecord[] = []
        for (const { principal, name, share: read, control, isShareFirst, fate } of all) {
          const shared = [
            ...(read === undefined ? [] : [["share", read] as const]),
            ...(control === undefined ? [] : [["share-control", control] as const]),
          ]
          const named = name === undefined ? [] : [["name", name] as const]
          const pairs = isShareFirst ? [...shared, ...named] : [...named, ...shared]
          const record = owned(principal, Object.fromEntries(pairs))
          if (fate === "live") opened.journal.create(record, null)
          const now = fate === "live" ? record : live(opened.journal, record)
          if (fate === "removed") opened.journal.remove(record.id)
          else kept.push(now)
        }

        for (const name of ["a", "b", 'q"u\\o', "none"]) {
          for (const principal of ["alice", "bob", "carol"]) {
            for (const isAdmin of [false, true]) {
              const seen = kept.filter(({ principal: owner, spec: { labels } }) => {
                return isAdmin || viewer(principal).maySee({ principal: owner, labels })
              })
              expect(found(opened.reader, name, principal, isAdmin)).toEqual(expected(seen, name))
            }
          }
        }
        const left = rawRows(opened.path, "SELECT DISTINCT execution FROM names")
        expect(left).toHaveLength(kept.filter(({ spec }) => nameOf(spec.labels) !== null).length)
      }),
      { numRuns: 25 },
    )
  })

  test("are found among many, of others and one's own", () => {
    using opened = temporaryJournal()
    for (let nth = 0; nth < 300; nth += 1) live(opened.journal, owned("bob", { name: "nightly" }))
    const mine = live(opened.journal, owned("alice", { name: "nightly" }))
    const shared = live(opened.journal, owned("bob", { name: "nightly", share: "carol" }))
    const lasts = live(opened.journal, owned("bob", { name: "nightly" }))

    const ended = (id: string, principal: string) => ({ id, principal, isLive: false })
    expect(found(opened.reader, "nightly", "alice")).toEqual([ended(mine.id, "alice")])
    expect(found(opened.reader, "nightly", "carol")).toEqual([ended(shared.id, "bob")])
    expect(found(opened.reader, "nightly", "dave")).toEqual([])
    expect(found(opened.reader, "nightly", "dave", true)).toEqual([
      ended(mine.id, "alice"),
      ended(lasts.id, "bob"),
    ])
  })
})

/** The model: all are looked through. */
function expected(seen: readonly ExecutionRecord[], name: string): NamedExecution[] {
  const named = seen.filter(({ spec }) => nameOf(spec.labels) === name)
  const all = named.map(({ id, principal, endedAt }) => ({ id, principal, isLive: !endedAt }))
  const endedFirst = all.toSorted((one, other) => Number(one.isLive) - Number(other.isLive))
  return sorted([...new Map(endedFirst.map((one) => [one.principal, one])).values()])
}

describe("a journal that a program without names has written", () => {
  test("gets them when it is opened, and before that is read without", () => {
    using opened = temporaryJournal()
    live(opened.journal, owned("alice", { name: "nightly" }))
    const latest = live(opened.journal, owned("alice", { name: "nightly", share: "bob" }))
    const theirs = live(opened.journal, owned("bob", { name: "nightly" }))
    asBeforeNames(opened.path)
    const all = [
      { id: latest.id, principal: "alice", isLive: false },
      { id: theirs.id, principal: "bob", isLive: false },
    ]

    using before = succeeded(openJournalReader(opened.path))
    expect(sorted(before.withName("nightly", "alice"))).toEqual(all)

    succeeded(openJournal(opened.path, opened.clock))[Symbol.dispose]()
    using after = succeeded(openJournalReader(opened.path))
    expect(sorted(after.withName("nightly", "alice"))).toEqual(all)
    expect(found(after, "nightly", "bob")).toEqual(all)
  })
})

function asBeforeNames(path: string): void {
  for (const trigger of ["label_is_name", "label_shares_name", "execution_no_longer_named"]) {
    rawRows(path, `DROP TRIGGER ${trigger}`)
  }
  rawRows(path, "DROP VIEW label_names")
  rawRows(path, "DROP TABLE names")
}
