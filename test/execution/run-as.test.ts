import { describe, expect, test } from "bun:test"
import { findRunAs, mayAccess } from "../../src/execution/run-as.ts"

const passwd = `root:x:0:0:root:/root:/bin/bash
agent:x:1001:1002:An agent,,,:/home/agent:/bin/zsh
plain:x:1003:1003:::
broken line
`
const group = `root:x:0:
agents:x:1002:agent
video:x:44:agent
`
const find = (text: string) => findRunAs(text, passwd, group)

describe("the user that children run as", () => {
  test("is found by name or number, with the group of the account", () => {
    const agent = { uid: 1001, gid: 1002, user: "agent", home: "/home/agent", shell: "/bin/zsh" }
    expect(find("agent")).toEqual({ ok: true, value: agent })
    expect(find("1001")).toEqual({ ok: true, value: agent })
    expect(find("agent:video")).toEqual({ ok: true, value: { ...agent, gid: 44 } })
    expect(find("agent:77")).toEqual({ ok: true, value: { ...agent, gid: 77 } })
  })

  test("may be a number without an account, which has no home", () => {
    const nobody = { uid: 65534, gid: 65534, user: null, home: "/", shell: "/bin/sh" }
    expect(find("65534:65534")).toEqual({ ok: true, value: nobody })
    expect(find("65534")).toMatchObject({
      failure: expect.stringContaining("so its group is needed"),
    })
  })

  test("has a place and a shell even where the account names none", () => {
    expect(find("plain")).toMatchObject({ value: { home: "/", shell: "/bin/sh" } })
  })

  test("is not root, nor of root's group, nor nobody at all", () => {
    for (const text of ["root", "0", "0:5", "agent:root", "agent:0", "missing", "agent:missing"])
      expect(find(text).ok).toBe(false)
    for (const text of ["", ":", "agent:", ":video", "a:b:c", "4294967295:1", "-1:1"])
      expect(find(text).ok).toBe(false)
  })
})

describe("access by mode", () => {
  const user = { uid: 1001, gid: 1002 }

  test("is the owner's, the group's, or everybody's: the first that fits alone", () => {
    expect(mayAccess(user, { uid: 1001, gid: 0, mode: 0o600 }, "read")).toBe(true)
    expect(mayAccess(user, { uid: 1001, gid: 1002, mode: 0o077 }, "read")).toBe(false)
    expect(mayAccess(user, { uid: 0, gid: 1002, mode: 0o020 }, "write")).toBe(true)
    expect(mayAccess(user, { uid: 0, gid: 1002, mode: 0o707 }, "write")).toBe(false)
    expect(mayAccess(user, { uid: 0, gid: 0, mode: 0o001 }, "execute")).toBe(true)
    expect(mayAccess(user, { uid: 0, gid: 0, mode: 0o770 }, "execute")).toBe(false)
  })
})
