import { expect } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { z } from "zod"
import { root } from "../../scripts/steps.ts"
import type { Block } from "./document.ts"

/** A block that is not run must still be what it says it is. */
export function expectReadable({ language, text, comments }: Block): void {
  switch (language) {
    case "json":
      for (const value of jsonValues(text)) expectMessage(value)
      return
    case "yaml":
      expect(Bun.YAML.parse(text)).toBeObject()
      return
    case "toml":
      expect(Bun.TOML.parse(text)).toBeObject()
      return
    case "ini":
      expect(text.split("\n").filter((line) => !/^(?:\[\w+\]|\w+=.+|[#;].*|)$/.test(line))).toEqual(
        [],
      )
      return
    case "text":
      // A command in here would be one that nobody has tried.
      if (comments.file === null) expect(text).not.toMatch(/^(?:[$#] |cc-executor )/m)
      for (const [, message = ""] of text.matchAll(/^[→←] (\{.*\})$/gm)) {
        expectMessage(JSON.parse(message))
      }
      return
    default:
      throw new Error(`not for reading: ${language}`)
  }
}

/** The whole block, or else each of its lines. */
function jsonValues(text: string): unknown[] {
  try {
    return [JSON.parse(text)]
  } catch {
    return text
      .trim()
      .split("\n")
      .map((line): unknown => JSON.parse(line))
  }
}

const Message = z.looseObject({
  jsonrpc: z.literal("2.0"),
  method: z.string().optional(),
  params: z.unknown(),
})

const schemaPath = join(root, "docs/protocol.schema.json")
const Reference = z.object({ params: z.object({ $ref: z.string() }) })
const ProtocolSchema = z.looseObject({
  methods: z.record(z.string(), Reference),
  notifications: z.record(z.string(), Reference),
  $defs: z.record(z.string(), z.custom<z.core.JSONSchema.JSONSchema>()),
})
const protocol = ProtocolSchema.parse(JSON.parse(readFileSync(schemaPath, "utf8")))

/** A message of the protocol fits the schema that clients are given. */
function expectMessage(value: unknown): void {
  const message = Message.safeParse(value)
  if (!message.success || message.data.method === undefined) return
  const { methods, notifications, $defs } = protocol
  const { method, params } = message.data
  const reference = (methods[method] ?? notifications[method])?.params
  expect(reference, `the protocol has no ${method}`).toBeDefined()
  const schema = z.fromJSONSchema({ ...reference, $defs })
  expect(schema.safeParse(params ?? {}).error?.message).toBeUndefined()
}
