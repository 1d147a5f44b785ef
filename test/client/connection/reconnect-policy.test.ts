import { describe, expect, test } from "bun:test"
import {
  defaultReconnectPolicy,
  reconnectDelayMs,
} from "../../../src/client/connection/reconnect-policy.ts"

describe("the delay before a reconnect", () => {
  const delays = (random: number) =>
    [1, 2, 3, 6, 7, 60].map((attempt) => reconnectDelayMs(attempt, defaultReconnectPolicy, random))

  test("doubles from 50 ms to 2 s", () => {
    expect(delays(1)).toEqual([50, 100, 200, 1600, 2000, 2000])
  })

  test("is spread over its upper half", () => {
    expect(delays(0)).toEqual([25, 50, 100, 800, 1000, 1000])
  })
})
