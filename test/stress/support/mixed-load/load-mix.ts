import { conversationWork, terminalWork } from "./conversations.ts"
import { comeBackWork, eachOtherWork, floodWork, stallWork } from "./flood-works.ts"
import { shortCommandsWork } from "./short-commands.ts"
import { steeredJobWork } from "./steered-job.ts"
import { vanishAndKeepWork, vanishUnansweredWork, vanishWork } from "./vanishing.ts"
import type { Work } from "./work.ts"

/** What is always there, however the rest falls out. */
const least: ReadonlyArray<[Work, number]> = [
  [shortCommandsWork, 14],
  [steeredJobWork, 10],
  [conversationWork, 12],
  [terminalWork, 8],
  [floodWork, 4],
  [stallWork, 4],
  [comeBackWork, 6],
  [eachOtherWork, 4],
  [vanishWork, 6],
  [vanishUnansweredWork, 6],
  [vanishAndKeepWork, 4],
]

/** A little of everything, to get warm. */
export const oneOfEach: readonly Work[] = least.map(([work]) => work)

/** A mix of all kinds of work, of so many sessions, in no order. */
export function loadMix(random: (below: number) => number, sessions: number): Work[] {
  const mix = least.flatMap(([work, count]) => Array.from({ length: count }, () => work))
  while (sessionsOf(mix) < sessions) {
    mix.push(oneOfEach[random(oneOfEach.length)] ?? shortCommandsWork)
  }
  return mix
    .map((work) => ({ work, place: random(1_000_000) }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ work }) => work)
}

export function sessionsOf(mix: readonly Work[]): number {
  return mix.reduce((sum, { sessions }) => sum + sessions, 0)
}
