import { fail, ok, type Result } from "../lib/result.ts"

/** Another user than the service's, whom children run as. */
export type RunAs = {
  uid: number
  gid: number
  /** Null for a number that no account has. */
  user: string | null
  home: string
  shell: string
}

type Account = { name: string; uid: number; gid: number; home: string; shell: string }

/**
 * `USER[:GROUP]`, each a name or a number, looked up in the text of /etc/passwd and /etc/group. The
 * failure completes the sentence "… cannot be used: ".
 */
export function findRunAs(wanted: string, passwd: string, group: string): Result<RunAs, string> {
  const [userText = "", groupText, ...rest] = wanted.split(":")
  if (userText === "" || groupText === "" || rest.length > 0) {
    return fail("use USER, USER:GROUP, UID or UID:GID")
  }
  const number = readId(userText)
  const account = accounts(passwd).find(({ name, uid }) =>
    number === null ? name === userText : uid === number,
  )
  const uid = account?.uid ?? number
  if (uid === null) return fail(`there is no user ${userText} in /etc/passwd`)
  const gid = groupText === undefined ? (account?.gid ?? null) : groupId(groupText, group)
  if (gid === null) {
    return groupText === undefined
      ? fail(`uid ${uid} has no account, so its group is needed: ${uid}:GID`)
      : fail(`there is no group ${groupText} in /etc/group`)
  }
  if (uid === 0) return fail("children would be root, as the service is: choose another user")
  if (gid === 0) return fail("children would be in root's group: choose another group")
  const { name: user = null, home = "/", shell = "/bin/sh" } = account ?? {}
  return ok({ uid, gid, user, home, shell })
}

function accounts(passwd: string): Account[] {
  return passwd.split("\n").flatMap((line) => {
    const [name = "", , uidText = "", gidText = "", , home = "", shell = ""] = line.split(":")
    const uid = readId(uidText)
    const gid = readId(gidText)
    if (name === "" || uid === null || gid === null) return []
    return [{ name, uid, gid, home: home || "/", shell: shell || "/bin/sh" }]
  })
}

function groupId(wanted: string, group: string): number | null {
  const number = readId(wanted)
  if (number !== null) return number
  for (const line of group.split("\n")) {
    const [name, , gid = ""] = line.split(":")
    if (name === wanted) return readId(gid)
  }
  return null
}

/** The kernel's largest id means "no change" to those who set one. */
const mostId = 4_294_967_294

function readId(text: string): number | null {
  const id = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
  return id <= mostId ? id : null
}

export type FileMode = { uid: number; gid: number; mode: number }

const bits = { read: 4, write: 2, execute: 1 } as const
export type Access = keyof typeof bits

/** As the kernel decides it for a user without privileges and without further groups. */
export function mayAccess(user: Pick<RunAs, "uid" | "gid">, file: FileMode, access: Access) {
  const shift = file.uid === user.uid ? 6 : file.gid === user.gid ? 3 : 0
  return ((file.mode >> shift) & bits[access]) !== 0
}
