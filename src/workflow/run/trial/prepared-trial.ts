import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import type { ExecutionId } from "../../../execution/id.ts"
import type { TrialDefinition } from "../../../execution/trial/announcement.ts"
import { readPrompt } from "../../documents/prompt.ts"
import type { Work } from "../../documents/work-kind.ts"
import {
  type Aim,
  type AnnouncedAct,
  checksOf,
  definitionOf,
  needsBase,
  type PlannedTrial,
} from "../../plan/definition.ts"
import { isTestLike, namedFiles } from "../../plan/named-files.ts"
import { listingScript, protectionScript, surroundingsScript } from "../../plan/protection.ts"
import type { Place, Snapshot, WorkFiles } from "../places/ground.ts"
import { testFoldersIn } from "../places/test-folders.ts"
import { WorkFailure } from "../work-failure.ts"
import type { Workspace } from "../workspace.ts"

/** A trial before it is announced: everything that must not change is on record by then. */
export type PreparedTrial = {
  readonly definition: TrialDefinition
  readonly planned: PlannedTrial
  readonly snapshot: Snapshot
  readonly act: Place
  /** What the act is to change, although it may be a test. */
  readonly mayChange: string | null
  /** Makes what was not needed until now. */
  makeBase(): Promise<void>
}

export type TrialOrder = {
  work: Work
  files: WorkFiles
  aim: Aim
  snapshot: Snapshot
  /** What acts; null where nothing does. */
  act: AnnouncedAct | null
  reds: ReadonlyMap<string, ExecutionId>
  /** Paths that must not change; null for what the checks name. */
  protect: readonly string[] | null
  /** Of a fix. */
  sparing?: Sparing | undefined
}

/** What must not change besides: folders of tests, where nothing was said, and these files. */
export type Sparing = {
  files: readonly string[]
  /** The one file that the fix is about: it may change, wherever it is. */
  except: string | null
}

export async function prepareTrial(
  { folder }: Pick<Workspace, "folder">,
  order: TrialOrder,
): Promise<PreparedTrial> {
  const { aim, snapshot, reds, files } = order
  const spoiled = new Map<number, string>()
  const places = {
    base: folder.fresh("base"),
    act: folder.fresh("act"),
    empty: folder.fresh("empty"),
    spoiled(number: number) {
      const path = spoiled.get(number) ?? folder.fresh("spoiled")
      spoiled.set(number, path)
      return path
    },
  }
  const act = await snapshot.place(places.act)
  const except = sparedFile(order, act.path)
  const protect = protectedPaths(order, act.path, except)
  const planned: PlannedTrial = {
    aim,
    places,
    tree: snapshot.tree,
    act: order.act,
    protect,
    reds,
    guards: {
      protect: await protectionOf(protect, except === null ? [] : [except], act.path),
      surroundings: surroundingsOf(order.work, files.file, act.path),
    },
  }
  const definition = definitionOf(planned)
  if (checksOf(aim).some(({ red }) => red === "empty")) mkdirSync(places.empty)
  for (const path of spoiled.values()) await snapshot.place(path)
  let hasBase = needsBase(planned)
  if (hasBase) await snapshot.place(places.base)
  return {
    definition,
    planned,
    snapshot,
    act,
    mayChange: except,
    async makeBase() {
      if (!hasBase) await snapshot.place(places.base)
      hasBase = true
    },
  }
}

/** Where nothing was said: the work, and what the checks name to test with or to run. */
function protectedPaths(order: TrialOrder, place: string, except: string | null): string[] {
  const { work, files, aim, protect, sparing } = order
  const named = protect ?? [...namedByChecks(aim), ...(sparing ? testFoldersIn(place) : [])]
  const clean = named.map((path) => path.replace(/^(?:\.\/)+/, "").replace(/\/+$/, ""))
  for (const path of clean) {
    if (path === "" || path.startsWith("/") || path.split("/").includes("..")) {
      throw new WorkFailure(`protect: "${path}" is not a path inside of the directory.`)
    }
  }
  const there = protect === null ? clean.filter((path) => existsSync(join(place, path))) : clean
  const own = work.kind === "prompt" && work.code !== null ? [] : [files.file]
  const all = [...there.filter((path) => path !== except), ...(sparing?.files ?? []), ...own]
  return [...new Set(all)]
    .filter((path) => !all.some((other) => path.startsWith(`${other}/`)))
    .toSorted()
}

/** What somebody has protected by name is not spared, and neither is a whole folder. */
function sparedFile({ protect, sparing }: TrialOrder, place: string): string | null {
  const path = sparing?.except ?? null
  if (path === null || protect !== null) return null
  const stat = statSync(join(place, path), { throwIfNoEntry: false })
  return stat?.isDirectory() === true ? null : path
}

function namedByChecks(aim: Aim): string[] {
  const texts = [...checksOf(aim).map(({ run }) => run), ...aim.guards]
  return texts.flatMap((run) => {
    const { tests, programs, objects } = namedFiles(run)
    return [...tests, ...programs, ...objects.filter(isTestLike)]
  })
}

export async function protectionOf(
  paths: readonly string[],
  except: readonly string[],
  place: string,
): Promise<string | null> {
  if (paths.length === 0) return null
  const child = Bun.spawn(["bash", "-c", listingScript(paths, except)], {
    cwd: place,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  })
  return protectionScript(paths, await child.stdout.text(), except)
}

/** The one part of a prompt that an act may change is its code block. */
function surroundingsOf(work: Work, file: string, place: string): string | null {
  if (work.kind !== "prompt" || work.code === null) return null
  const own = readPrompt(readFileSync(join(place, file), "utf8"))
  const code = own.ok ? own.value.code : null
  if (!own.ok || code === null) return null
  const { text } = own.value
  const before = Buffer.from(text.slice(0, code.start))
  const after = Buffer.from(text.slice(code.end))
  const digest = (bytes: Uint8Array) => ({
    bytes: bytes.length,
    sha256: createHash("sha256").update(bytes).digest("hex"),
  })
  return surroundingsScript({ file, before: digest(before), after: digest(after) })
}
