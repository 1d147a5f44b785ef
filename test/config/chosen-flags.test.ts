import { describe, expect, test } from "bun:test"
import { chosenFlags } from "../../src/config/config.ts"

describe("what somebody has chosen, as flags", () => {
  test("is all that is not the default, each from where it counts", () => {
    const env = {
      CC_EXECUTOR_PORT: "9000",
      LOG_LEVEL: "debug",
      CC_EXECUTOR_GRACE: "1s",
      OTHER: "x",
    }
    const flags = { port: "9001", "make-token": true as const, "log-file": "~/a log" }

    const chosen = chosenFlags({ flags, env, home: "/home/me" })

    expect(chosen.toSorted()).toEqual([
      "--grace=1s",
      "--log-file=/home/me/a log",
      "--log-level=debug",
      "--make-token=true",
      "--port=9001",
    ])
  })

  test("is nothing where nothing was", () => {
    expect(chosenFlags({ flags: {}, env: {}, home: "/home/me" })).toEqual([])
  })
})
