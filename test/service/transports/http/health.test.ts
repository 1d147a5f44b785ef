import { describe, expect, test } from "bun:test"
import { ok } from "../../../../src/lib/result.ts"
import { localUser } from "../../../support/callers.ts"
import { healthFacts, httpService } from "./http-service.ts"

const anonymous = { Authorization: "Bearer wrong" }

describe.each(["/health", "/healthz"])("%s", (path) => {
  test("tells anybody that the service is alive, and nothing else", async () => {
    const { get } = httpService()

    const response = await get(path, anonymous)

    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({ status: "ok" })
  })

  test("tells more to an admin, and to nobody else", async () => {
    const admins = httpService({ callerOf: () => ok(localUser) })
    const others = httpService()

    const told = { status: "ok", version: "1.2.3", ...healthFacts }
    expect(await (await admins.get(path)).json()).toEqual(told)
    expect(await (await others.get(path)).json()).toEqual({ status: "ok" })
  })
})

test("/readyz tells anybody that the service takes work", async () => {
  const { get } = httpService()

  const response = await get("/readyz", anonymous)

  expect(response.status).toBe(200)
  expect(await response.json()).toEqual({ ready: true })
})

test("/readyz says what is wrong and what to do, while /health stays well", async () => {
  const { get, reasons } = httpService()
  const message = "The disk is full."
  reasons.push({ name: "disk-full", message, action: "Make room.", passes: false })

  const response = await get("/readyz")

  expect(response.status).toBe(503)
  expect(await response.json()).toEqual({ ready: false, reasons })
  expect((await get("/health")).status).toBe(200)
})
