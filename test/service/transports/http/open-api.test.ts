import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { version } from "../../../../package.json"
import { protocolSchema } from "../../../../scripts/protocol-schema.ts"
import { methods } from "../../../../src/protocol/methods.ts"
import { notifications } from "../../../../src/protocol/notifications.ts"
import { endpoints } from "../../../../src/service/transports/http/endpoints.ts"
import { openApiDocument } from "../../../../src/service/transports/http/open-api.ts"
import { httpService } from "./http-service.ts"

const document = openApiDocument(endpoints, version)
const operations = Object.entries(document.paths).flatMap(([path, byMethod]) =>
  Object.entries(byMethod).map(([method, operation]) => ({ path, method, operation })),
)

describe("the API document", () => {
  test("has every route there is, and no other", () => {
    const { app } = httpService()
    // What is said at /mcp is JSON-RPC, and describes itself.
    const routes = app.routes.filter(({ method, path }) => method !== "ALL" && path !== "/mcp")
    const registered = routes.map(({ method, path }) => {
      return `${method.toLowerCase()} ${path.replaceAll(/:(\w+)/g, "{$1}")}`
    })

    const documented = operations.map(({ path, method }) => `${method} ${path}`)

    expect(documented.toSorted()).toEqual([...new Set(registered)].toSorted())
  })

  const withoutBody = [
    "/tickets",
    "/sessions",
    "/agents/{id}/interrupt",
    "/agents/{id}/end",
    "/agents/{id}/take",
    "/trials/{id}/renew",
    "/trials/{id}/end",
  ]

  test("is served, with the version that runs", async () => {
    const { get } = httpService()

    const response = await get("/openapi.json")

    expect(await response.json()).toEqual(openApiDocument(endpoints, "1.2.3"))
  })

  test("names every operation once", () => {
    const ids = operations.map(({ operation }) => operation.operationId)

    expect(new Set(ids).size).toBe(ids.length)
  })

  test.each(operations)("describes $method $path", ({ path, method, operation }) => {
    const { summary, parameters, requestBody, responses } = operation
    const inPath = parameters.filter((parameter) => parameter.in === "path")

    expect(summary).not.toBe("")
    expect(inPath.map(({ name }) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? [])
    expect(inPath.every(({ required }) => required)).toBe(true)
    expect(requestBody !== undefined).toBe(method === "post" && !withoutBody.includes(path))
    for (const [status, response] of Object.entries(responses)) {
      expect(status).toMatch(/^[2-5]\d\d$/)
      expect(response.description).not.toBe("")
      expect(response.content !== undefined).toBe(status !== "204")
    }
    expect(Object.keys(responses)).toContain("200")
    expect(responses["500"]).toMatchObject({
      content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
    })
  })

  test("refers only to schemas it has, and has none that nothing refers to", () => {
    const named = Object.keys(document.components.schemas).toSorted()

    expect(referencesIn(document, "#/components/schemas/")).toEqual(named)
  })

  test("says what a request may leave out and an answer always has", () => {
    const { ExecuteRequest, Execution } = document.components.schemas

    expect(ExecuteRequest).not.toHaveProperty("required")
    expect(ExecuteRequest).toMatchObject({ properties: { stdin: { default: "closed" } } })
    expect(Execution?.["required"]).toContain("execution_id")
    expect(Execution).not.toHaveProperty("additionalProperties")
  })
})

describe("the schema of the native protocol", () => {
  const schema = protocolSchema()

  test("has every method and every notification", () => {
    const told = Object.keys(notifications)

    expect(Object.keys(schema["methods"] ?? {})).toEqual(Object.keys(methods))
    expect(Object.keys(schema["notifications"] ?? {})).toEqual(told)
  })

  test("refers only to schemas it has", () => {
    const named = Object.keys(schema["$defs"] ?? {})

    expect(named).toEqual(expect.arrayContaining(referencesIn(schema, "#/$defs/")))
  })
})

test.each([
  ["docs/openapi.json", document],
  ["docs/protocol.schema.json", protocolSchema()],
])("%s is current: else run scripts/generate-docs.ts", async (path, generated) => {
  const committed: unknown = await Bun.file(join(import.meta.dir, "../../../..", path)).json()

  expect(committed).toEqual(JSON.parse(JSON.stringify(generated)))
})

function referencesIn(value: unknown, prefix: string): string[] {
  const found = JSON.stringify(value).matchAll(/"\$ref":"([^"]+)"/g)
  const names = [...found].map(([, reference = ""]) => {
    expect(reference).toStartWith(prefix)
    return reference.slice(prefix.length)
  })
  return [...new Set(names)].toSorted()
}
