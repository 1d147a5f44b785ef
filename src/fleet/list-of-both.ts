import type { ExecutionRecord } from "../execution/record.ts"
import { fail, ok, type Result } from "../lib/result.ts"
import type { ExecutionView } from "../protocol/execution-view.ts"
import { type Failure, failure } from "../protocol/failure.ts"
import type { ParsedParamsOf, ResultOf } from "../protocol/methods.ts"
import { listPage } from "../service/gateway/operations/list-page.ts"
import type { Viewer } from "../service/gateway/ports.ts"
import type { Mirror } from "./mirror-port.ts"

type ListParams = ParsedParamsOf<"list">
type Page = { executions: ExecutionView[]; cursor?: string | undefined }
type Source = (asked: ListParams) => Promise<Result<Page, Failure>>

/** Where a list goes on in one of its sources: from its beginning, at a cursor, or no more. */
const isOver = "-"

/** What runs here and what others have told, newest first: a page of both goes on in both. */
export async function listOfBoth(
  params: ListParams,
  own: Source,
  mirror: Mirror,
  viewer: Viewer | null,
  seen: (record: ExecutionRecord) => ExecutionView,
): Promise<Result<ResultOf<"list">, Failure>> {
  const others: Source = async (asked) => {
    const page = await listPage(mirror, asked, viewer)
    if (page === null) return fail(badCursor)
    const executions = page.records.map(seen)
    return ok({ executions, ...(page.cursor !== null && { cursor: page.cursor }) })
  }
  const starts = params.cursor === undefined ? ["", ""] : params.cursor.split("~")
  const [ownFrom, othersFrom] = starts
  if (ownFrom === undefined || othersFrom === undefined || starts.length !== 2)
    return fail(badCursor)
  const [mine, theirs] = await Promise.all([
    pageOf(own, params, ownFrom),
    pageOf(others, params, othersFrom),
  ])
  if (!mine.ok) return mine
  if (!theirs.ok) return theirs
  const merged = merge(mine.value, theirs.value, params.limit)
  const next = await Promise.all([
    nextOf(own, params, ownFrom, mine.value, merged.ofMine),
    nextOf(others, params, othersFrom, theirs.value, merged.ofTheirs),
  ])
  const isAll = next.every((cursor) => cursor === isOver)
  const { executions } = merged
  return ok(isAll ? { executions } : { executions, cursor: next.join("~") })
}

async function pageOf(source: Source, params: ListParams, from: string): ReturnType<Source> {
  if (from === isOver) return ok({ executions: [] })
  return source({ ...params, cursor: from === "" ? undefined : from })
}

/** As long as it is certain that nothing newer follows in the other one. */
function merge(mine: Page, theirs: Page, limit: number) {
  const executions: ExecutionView[] = []
  let ofMine = 0
  let ofTheirs = 0
  while (executions.length < limit) {
    const one = mine.executions[ofMine]
    const other = theirs.executions[ofTheirs]
    if (one === undefined && (mine.cursor !== undefined || other === undefined)) break
    if (other === undefined && theirs.cursor !== undefined) break
    const isMine = other === undefined || (one !== undefined && one.created_at >= other.created_at)
    const next = isMine ? one : other
    if (next === undefined) break
    if (isMine) ofMine += 1
    else ofTheirs += 1
    executions.push(next)
  }
  return { executions, ofMine, ofTheirs }
}

/** After so many of a page; of a part of it, the source is asked once more. */
async function nextOf(
  source: Source,
  params: ListParams,
  from: string,
  page: Page,
  taken: number,
): Promise<string> {
  if (taken === page.executions.length) return page.cursor ?? isOver
  if (taken === 0) return from
  const again = await pageOf(source, { ...params, limit: taken }, from)
  return (again.ok ? again.value.cursor : undefined) ?? from
}

const badCursor = failure("INVALID_PARAMS", "`cursor` is not one of `list`.")
