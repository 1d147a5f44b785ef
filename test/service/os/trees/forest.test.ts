import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { reap } from "../../../../src/service/os/libc.ts"
import { newId, Planted } from "../../../support/planted.ts"
import { RealChild } from "../../../support/real-child.ts"
import { isStillThere } from "../../../support/real-processes.ts"
import { subreaper } from "../../../support/subreaper.ts"
import { until } from "../../../support/until.ts"

const [one, two, three] = [newId(), newId(), newId()]
/** Born, orphaned and out of its session before anybody looks. */
const stray = (word: string) => `env -i setsid sh -c 'echo "${word} $$"; exec sleep 1000'`

let adopting: Disposable
beforeAll(() => {
  adopting = subreaper()
})
afterAll(() => adopting[Symbol.dispose]())

describe("a tree without a cgroup", () => {
  test("has the leader, its children, and a grandchild in another session", async () => {
    const planted = new Planted()
    const script = `sleep 1000 & echo "child $!"; setsid sh -c 'echo "far $$"; sleep 1000' & wait`
    await using leader = planted.grow(one, script)
    const [child, far] = [await leader.told("child"), await leader.told("far")]

    const pids = planted.pids(one)

    expect(pids).toContain(leader.pid)
    expect(pids).toContain(child.pid)
    expect(pids).toContain(far.pid)
    expect(pids).not.toContain(process.pid)
  })

  test("has an orphan that kept its environment, whatever session it is in", async () => {
    const planted = new Planted()
    const script = `(setsid sh -c 'echo "orphan $$"; exec sleep 1000' &); exec sleep 1000`
    await using leader = planted.grow(one, script)
    await using other = planted.grow(two, "exec sleep 1000")
    const orphan = await leader.toldOrphan("orphan")

    expect(planted.pids(one)).toEqual([leader.pid, orphan.pid].toSorted((a, b) => a - b))
    expect(planted.pids(two)).toEqual([other.pid])
  })

  test("keeps whom it has seen, after all that tied them together is gone", async () => {
    const planted = new Planted()
    const script = 'sh -c "$STRAY & wait" & echo "parent $!"; wait'
    const env = { STRAY: stray("lost") }
    await using leader = planted.grow(one, script, env)
    await using other = planted.grow(two, "exec sleep 1000")
    const [parent, lost] = [await leader.told("parent"), await leader.told("lost")]
    expect(planted.pids(one)).toContain(lost.pid)

    process.kill(parent.pid, "SIGKILL")
    await until("the parent is gone", () => !isStillThere(parent))

    expect(planted.pids(one)).toContain(lost.pid)
    expect(planted.pids(two)).toEqual([other.pid])
  })

  test("has a stray when it is the only one it can belong to", async () => {
    const planted = new Planted()
    await using leader = planted.grow(one, `(${stray("stray")} &); exec sleep 1000`)
    const found = await leader.toldOrphan("stray")

    expect(planted.pids(one)).toContain(found.pid)
  })

  test("does not have what belongs to nobody", async () => {
    await using bystander = new RealChild("sleep 1000 & wait")
    const planted = new Planted()
    await using leader = planted.grow(one, "exec sleep 1000")

    expect(planted.pids(one)).toEqual([leader.pid])
    planted.forest.remove(one)

    expect(isStillThere(bystander.identity)).toBe(true)
  })

  test("lets go of a session whose number means another process by now", async () => {
    await using another = new RealChild("sleep 1000 & wait")
    const planted = new Planted()
    const { pid, startTicks } = another.identity
    planted.forest.add(one, { pid, startTicks: startTicks - 1 })

    expect(planted.pids(one)).toEqual([])
  })
})

describe("a stray that may belong to several", () => {
  test("is nobody's at first, and the last one's when the others have ended", async () => {
    const planted = new Planted()
    await using leader = planted.grow(one, `(${stray("stray")} &); exec sleep 1000`)
    await using other = planted.grow(two, "exec sleep 1000")
    const found = await leader.toldOrphan("stray")
    expect(planted.pids(one)).toEqual([leader.pid])
    expect(planted.pids(two)).toEqual([other.pid])

    planted.forest.remove(one)

    expect(isStillThere(found)).toBe(true)
    expect(planted.pids(two)).toContain(found.pid)
  })

  test("is ended with its whole family when all of them have ended", async () => {
    const planted = new Planted()
    const script = 'echo "stray $$"; setsid sleep 1000 & echo "child $!"; wait'
    const family = `env -i setsid sh -c '${script}'`
    await using leader = planted.grow(one, `(${family} &); exec sleep 1000`)
    await using _other = planted.grow(two, "exec sleep 1000")
    const [found, child] = [await leader.toldOrphan("stray"), await leader.told("child")]
    planted.pids(one)

    planted.forest.remove(one)
    planted.forest.remove(two)

    await until("both are gone", () => {
      reap(found.pid)
      reap(child.pid)
      return !isStillThere(found) && !isStillThere(child)
    })
  })

  test("is not laid upon an execution that began after it came", async () => {
    const planted = new Planted()
    await using leader = planted.grow(one, `(${stray("stray")} &); exec sleep 1000`)
    await using other = planted.grow(two, "exec sleep 1000")
    const found = await leader.toldOrphan("stray")
    expect(planted.pids(two)).toEqual([other.pid])
    await using later = planted.grow(three, "exec sleep 1000")

    planted.forest.remove(one)
    planted.forest.remove(two)

    await until("it is gone", () => {
      reap(found.pid)
      return !isStillThere(found)
    })
    expect(planted.pids(three)).toEqual([later.pid])
  })
})
