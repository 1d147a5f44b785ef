import { describe, expect, test } from "bun:test"
import { loadConfig } from "../../src/config/config.ts"

const load = (flags: Record<string, string>) => loadConfig({ flags, env: {}, home: "/home/me" })

describe("the setting of what may run", () => {
  test("is names and paths of programs, or all of them", () => {
    const config = load({ "allowed-commands": "git, /usr/bin/make,git" })
    expect(config).toMatchObject({ value: { allowedCommands: ["git", "/usr/bin/make"] } })
    expect(load({ "allowed-commands": "any" })).toMatchObject({ value: { allowedCommands: null } })
  })

  test.each(["none", "NONE", "", ",", "git,,make", "bin/make"])(
    "is not %j, which must not come to mean everything",
    (text) => {
      const config = loadConfig({ flags: {}, env: { ALLOWED_COMMANDS: text }, home: "/home/me" })
      expect(config.ok ? [] : config.failure).toHaveLength(1)
    },
  )
})

describe("the user that children run as", () => {
  test.each(["agent", "agent:video", "65534:65534", "a.b-c@d"])("may be %s", (text) => {
    expect(load({ "run-as": text })).toMatchObject({ value: { runAs: text } })
  })

  test.each(["", "a:", ":b", "a b", "-a", "a:b:c", "a/b"])("is not %j", (text) => {
    expect(load({ "run-as": text }).ok).toBe(false)
  })
})
