import { expect, test } from "bun:test"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { readConfigFile, writeConfigFile } from "../../../src/cli/mcp-install/config-file.ts"
import { temporaryFolder } from "../../support/temporary-folder.ts"

test("what a client has written meanwhile is not lost", () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "settings.json")
  writeFileSync(path, "{}")
  const read = readConfigFile(path)
  writeFileSync(path, '{ "newer": true }')

  expect(() => writeConfigFile(path, read, '{ "ours": true }', false)).toThrow(
    "is being changed by another program",
  )
  expect(readFileSync(path, "utf8")).toBe('{ "newer": true }')
  expect(readdirSync(folder.path)).toEqual(["settings.json"])
})

test("a file of another name stays, however much it looks like a draft", () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "settings.json")
  writeFileSync(`${path}.new`, "somebody's")

  writeConfigFile(path, readConfigFile(path), "{}", false)

  expect(readFileSync(path, "utf8")).toBe("{}")
  expect(readFileSync(`${path}.new`, "utf8")).toBe("somebody's")
})
