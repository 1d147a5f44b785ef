import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { clientVariables } from "../../src/config/client-variables.ts"
import { configWarnings } from "../../src/config/config.ts"

const page = join(import.meta.dir, "../../docs/configuration.md")

describe("a variable that the command line has for itself", () => {
  test.each(Object.values(clientVariables))("%s is not taken for a misspelt setting", (name) => {
    expect(configWarnings({ [name]: "x" })).toEqual([])
    expect(configWarnings({ [`${name}S`]: "x" })).toHaveLength(1)
  })

  test.each(Object.values(clientVariables))("%s is in docs/configuration.md", async (name) => {
    expect(await Bun.file(page).text()).toContain(`| \`${name}\` |`)
  })
})
