import { beforeAll, describe, expect, test } from "bun:test"
import { Forest } from "../../src/process/forest.ts"
import { becomeSubreaper, reap } from "../../src/process/libc.ts"
import { RealChild } from "../support/real-child.ts"
import { isStillThere } from "../support/real-processes.ts"
import { sampleId } from "../support/sample-record.ts"
import { until } from "../support/until.ts"

const [one, two] = [sampleId(1), sampleId(2)]
/** Born, orphaned and out of its session before anybody looks; its pid is the last thing it says. */
const stray = (word: string) => `env -i setsid sh -c 'echo "${word} $$"; exec sleep 1000'`

beforeAll(() => becomeSubreaper())

/** A forest of the executions whose leaders are given. */
function forestOf(...leaders: RealChild[]): Forest {
  const own = new Set(leaders.map(({ pid }) => pid))
  const forest = new Forest((pid) => own.has(pid))
  for (const [index, leader] of leaders.entries())
    forest.plant(sampleId(index + 1), leader.identity)
  return forest
}

function pidsIn(forest: Forest, id: string): number[] {
  return forest
    .members(id)
    .map(({ pid }) => pid)
    .toSorted((a, b) => a - b)
}

describe("a tree without a cgroup", () => {
  test("has the leader, its children, and a grandchild in another session", async () => {
    const script = `sleep 1000 & echo "child $!"; setsid sh -c 'echo "far $$"; sleep 1000' & wait`
    await using leader = new RealChild(script, { executionId: one })
    const forest = forestOf(leader)
    const [child, far] = [await leader.told("child"), await leader.told("far")]

    const pids = pidsIn(forest, one)

    expect(pids).toContain(leader.pid)
    expect(pids).toContain(child.pid)
    expect(pids).toContain(far.pid)
    expect(pids).not.toContain(process.pid)
  })

  test("has an orphan that kept its environment, whatever session it is in", async () => {
    const script = `(setsid sh -c 'echo "orphan $$"; exec sleep 1000' &); exec sleep 1000`
    await using leader = new RealChild(script, { executionId: one })
    await using other = new RealChild("exec sleep 1000", { executionId: two })
    const forest = forestOf(leader, other)
    const orphan = await leader.told("orphan")

    expect(pidsIn(forest, one)).toEqual([leader.pid, orphan.pid].toSorted((a, b) => a - b))
    expect(pidsIn(forest, two)).toEqual([other.pid])
  })

  test("keeps whom it has seen, after all that tied them together is gone", async () => {
    const script = `sh -c '${stray("lost").replaceAll("'", `'"'"'`)} & sleep 1000' & echo "parent $!"; wait`
    await using leader = new RealChild(script, { executionId: one })
    await using other = new RealChild("exec sleep 1000", { executionId: two })
    const forest = forestOf(leader, other)
    const [parent, lost] = [await leader.told("parent"), await leader.told("lost")]
    expect(pidsIn(forest, one)).toContain(lost.pid)

    process.kill(parent.pid, "SIGKILL")
    await until("the parent is gone", () => !isStillThere(parent))

    expect(pidsIn(forest, one)).toContain(lost.pid)
    expect(pidsIn(forest, two)).toEqual([other.pid])
  })

  test("has a stray when it is the only one it can belong to", async () => {
    await using leader = new RealChild(`(${stray("stray")} &); exec sleep 1000`)
    const forest = forestOf(leader)
    const found = await leader.told("stray")

    expect(pidsIn(forest, one)).toContain(found.pid)
  })

  test("does not have what belongs to nobody", async () => {
    await using bystander = new RealChild("sleep 1000 & wait")
    await using leader = new RealChild("exec sleep 1000", { executionId: one })
    const own = new Set([leader.pid])
    const forest = new Forest((pid) => own.has(pid))
    forest.plant(one, leader.identity)

    expect(pidsIn(forest, one)).toEqual([leader.pid])
    forest.fell(one)

    expect(isStillThere(bystander.identity)).toBe(true)
  })

  test("lets go of a session whose number means another process by now", async () => {
    await using leader = new RealChild("sleep 1000 & wait")
    const forest = forestOf()
    // As if this pid had been the leader's, had been given out again, and had become a session.
    const { pid, startTicks } = leader.identity
    forest.plant(one, { pid, startTicks: startTicks - 1 })

    expect(pidsIn(forest, one)).toEqual([])
  })
})

describe("a stray that may belong to several", () => {
  test("is nobody's at first, and the last one's when the others have ended", async () => {
    await using leader = new RealChild(`(${stray("stray")} &); exec sleep 1000`)
    await using other = new RealChild("exec sleep 1000")
    const forest = forestOf(leader, other)
    const found = await leader.told("stray")
    expect(pidsIn(forest, one)).toEqual([leader.pid])
    expect(pidsIn(forest, two)).toEqual([other.pid])

    forest.fell(one)

    expect(isStillThere(found)).toBe(true)
    expect(pidsIn(forest, two)).toContain(found.pid)
  })

  test("is ended with its whole family when all of them have ended", async () => {
    const family = `env -i setsid sh -c 'echo "stray $$"; setsid sleep 1000 & echo "child $!"; wait'`
    await using leader = new RealChild(`(${family} &); exec sleep 1000`)
    await using other = new RealChild("exec sleep 1000")
    const forest = forestOf(leader, other)
    const [found, child] = [await leader.told("stray"), await leader.told("child")]
    pidsIn(forest, one)

    forest.fell(one)
    forest.fell(two)

    await until("both are gone", () => {
      reap(found.pid)
      reap(child.pid)
      return !isStillThere(found) && !isStillThere(child)
    })
  })

  test("is not laid upon an execution that began after it came", async () => {
    await using leader = new RealChild(`(${stray("stray")} &); exec sleep 1000`)
    await using other = new RealChild("exec sleep 1000")
    await using later = new RealChild("exec sleep 1000")
    const own = new Set([leader.pid, other.pid, later.pid])
    const forest = new Forest((pid) => own.has(pid))
    forest.plant(one, leader.identity)
    forest.plant(two, other.identity)
    const found = await leader.told("stray")
    pidsIn(forest, one)
    forest.plant(sampleId(3), later.identity)

    forest.fell(one)
    forest.fell(two)

    await until("it is gone", () => {
      reap(found.pid)
      return !isStillThere(found)
    })
    expect(pidsIn(forest, sampleId(3))).toEqual([later.pid])
  })
})
