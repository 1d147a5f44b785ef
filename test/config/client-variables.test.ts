import { describe, expect, test } from "bun:test"
import { configWarnings } from "../../src/config.ts"

describe("a variable that the command line has for itself", () => {
  test.each(["CC_EXECUTOR_URL", "CC_EXECUTOR_TOKEN", "CC_EXECUTOR_TOKEN_FILE"])(
    "%s is not taken for a misspelt setting",
    (name) => {
      expect(configWarnings({ [name]: "x" })).toEqual([])
      expect(configWarnings({ [`${name}S`]: "x" })).toHaveLength(1)
    },
  )
})
