import { CallError } from "../../client/client-error.ts"
import { taskState } from "../ledger/task-state.ts"
import { lookAt } from "./files/work-state.ts"
import { isDone, listOf, whyOpen } from "./run-tasks.ts"
import { verdictOn } from "./verify-work.ts"
import type { World } from "./world.ts"

/** How often a marker stands in the transcript of the step that it was made for. */
export type MarkerCount = {
  task: string | null
  trial: number
  step: string
  execution_id: string
  marker: string
  /** Null where the transcript is no longer kept. */
  times: number | null
}

/** What a reviewer wants to know of a list, by what is on record alone. */
export type TaskReport = {
  path: string
  done: { id: string; title: string; how: "verified" | "accepted"; trial: number | null }[]
  open: { id: string; title: string; why: string }[]
  markers: MarkerCount[]
  known_issues: string[]
}

export async function taskReport(world: World, path: string): Promise<TaskReport> {
  const state = await lookAt(world, path)
  const { tasks } = listOf(state)
  const { summary } = state
  const told = tasks.map((task) => ({ task, now: taskState(task, summary) }))
  const { damages, differences, unattested, notices } = verdictOn(state)
  const deciding = told.flatMap(({ now }) => ("trial" in now ? [now.trial] : []))
  const markers: MarkerCount[] = []
  for (const { announcement, steps } of deciding) {
    for (const { id: step, marker, execution_id } of steps) {
      if (marker === null || execution_id === null) continue
      const times = await countIn(world, execution_id, marker)
      const { sequence: trial, work } = announcement
      markers.push({ task: work.item ?? null, trial, step, execution_id, marker, times })
    }
  }
  return {
    path: state.path,
    done: told.flatMap(({ task: { id, title }, now }): TaskReport["done"] => {
      if (now.kind === "accepted") return [{ id, title, how: "accepted", trial: null }]
      if (now.kind !== "verified") return []
      const trial = now.trial.announcement.sequence
      return [{ id, title, how: "verified", trial }]
    }),
    open: told.flatMap(({ task, now }) => {
      if (isDone(now)) return []
      return [{ id: task.id, title: task.title, why: whyOpen(task, now) }]
    }),
    markers,
    known_issues: [
      ...damages.map((damage) => `The ledger is damaged: ${damage}.`),
      ...differences.map(
        ({ line, stands }) => `Line ${line} is not what the ledger shows: ${stands}`,
      ),
      ...unattested.map(({ id, says }) => `${id} ${says}.`),
      ...notices,
    ],
  }
}

const pieceBytes = 4 * 1024 * 1024

async function countIn(
  { client }: World,
  execution_id: string,
  marker: string,
): Promise<number | null> {
  let times = 0
  let rest = ""
  try {
    for (let from = "start"; ; ) {
      const asked = { execution_id, from, limit_bytes: pieceBytes }
      const { chunks, next, more } = await client.call("transcript.read", asked)
      const text = rest + chunks.map(({ data }) => data).join("")
      times += text.split(marker).length - 1
      rest = text.slice(Math.max(0, text.lastIndexOf(marker) + 1)).slice(-(marker.length - 1))
      if (more !== true) return times
      from = next
    }
  } catch (error) {
    if (error instanceof CallError) return null // it was removed, or is too old
    throw error
  }
}
