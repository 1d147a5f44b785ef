import { afterAll, describe, expect } from "bun:test"
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  changeableBy,
  changeableByOthers,
  unreachableFor,
} from "../../../../src/service/os/programs/user-reach.ts"
import { notRoot, testUnless } from "../../../support/test-unless.ts"

const user = { uid: 65534, gid: 65534 }
const folder = mkdtempSync(join(tmpdir(), "cc-executor-reach-"))
chmodSync(folder, 0o755)
afterAll(() => rmSync(folder, { recursive: true }))

const asRoot = (behaviour: string, run: () => Promise<void>) => testUnless(notRoot, behaviour, run)
let made = 0

/** A file in a directory of its own, each with its mode and its owner. */
function place(options: {
  mode?: number
  owner?: number
  folderMode?: number
  folderOwner?: number
}) {
  made += 1
  const inside = join(folder, String(made))
  mkdirSync(inside)
  const path = join(inside, "file")
  writeFileSync(path, "")
  chmodSync(path, options.mode ?? 0o644)
  chownSync(path, options.owner ?? 0, 0)
  chmodSync(inside, options.folderMode ?? 0o755)
  chownSync(inside, options.folderOwner ?? 0, 0)
  return path
}

describe("a file of root", () => {
  asRoot("cannot be changed by another user", async () => {
    expect(changeableBy(user, place({}))).toBeNull()
    expect(changeableByOthers(0, place({}))).toBeNull()
  })

  asRoot("can be where it, or a directory above it, is writable or his own", async () => {
    for (const path of [
      place({ mode: 0o666 }),
      place({ owner: user.uid }),
      place({ folderMode: 0o777 }),
      place({ folderOwner: user.uid }),
    ]) {
      expect(changeableBy(user, path)).not.toBeNull()
      expect(changeableByOthers(0, path)).not.toBeNull()
    }
  })

  asRoot("can be changed by a group of others, but not by this user", async () => {
    const path = place({ mode: 0o664 })
    expect(changeableByOthers(0, path)).toContain("is writable by group 0")
    expect(changeableBy(user, path)).toBeNull()
  })

  asRoot("in a directory where only owners replace is as safe as it is itself", async () => {
    expect(changeableBy(user, place({ folderMode: 0o1777 }))).toBeNull()
    expect(changeableBy(user, place({ folderMode: 0o1777, mode: 0o646 }))).not.toBeNull()
    expect(changeableBy(user, place({ folderMode: 0o1777, folderOwner: user.uid }))).not.toBeNull()
  })

  asRoot("can be changed through a link that is in the user's own directory", async () => {
    const link = join(folder, "link")
    mkdirSync(link, { mode: 0o777 })
    chmodSync(link, 0o777)
    symlinkSync(place({}), join(link, "to-it"))
    expect(changeableBy(user, join(link, "to-it"))).toContain(`${link} is writable`)
  })
})

describe("a file behind several links", () => {
  asRoot("can be changed through any of them", async () => {
    const between = join(folder, "between")
    mkdirSync(between)
    const target = place({})
    symlinkSync(target, join(between, "second"))
    symlinkSync(join("between", "second"), join(folder, "first"))
    expect(changeableBy(user, join(folder, "first"))).toBeNull()

    chownSync(between, user.uid, user.gid)
    expect(changeableBy(user, join(folder, "first"))).toContain(`${between} belongs to`)
    expect(changeableByOthers(0, join(folder, "first"))).toContain(`${between} belongs to`)
    expect(changeableBy(user, target)).toBeNull()
  })
})

describe("a directory", () => {
  asRoot("is closed where one above it is", async () => {
    const inside = join(folder, "closed/inside")
    mkdirSync(inside, { recursive: true })
    chmodSync(join(folder, "closed"), 0o700)
    expect(unreachableFor(user, inside)).toBe(join(folder, "closed"))
    expect(unreachableFor(user, folder)).toBeNull()
  })
})
