import { type Chance, oneOf } from "../../support/chance.ts"
import { hostileValue, mutated } from "../../support/hostile-values.ts"

/** Executions that may be touched, and those that may only be read. */
export type Targets = { readonly own: string; readonly readable: string }

/** What was asked to be executed, by a mark that each request has for itself. */
export type Asked = Map<string, string[]>

type Fields = Record<string, unknown>

/** Requests that mean something, each with all that it may say. */
function meantRequests({ own, readable }: Targets): [string, Fields][] {
  return [
    ["control", { execution_id: own, type: "PAUSE" }],
    ["control", { execution_id: own, type: "RESUME" }],
    ["control", { execution_id: own, type: "SIGNAL", signal: "CONT" }],
    ["input", { execution_id: own, data: "hello\n", encoding: "utf8", end: false }],
    ["input", { execution_id: own, data: "aGVsbG8K", encoding: "base64", offset: 0 }],
    ["resize", { execution_id: own, cols: 80, rows: 24 }],
    ["attach", { execution_id: own, from: "start", encoding: "utf8", role: "observer" }],
    ["attach", { execution_id: readable, from: "tail:1", encoding: "binary", role: "driver" }],
    ["detach", { execution_id: readable }],
    ["ack", { execution_id: own, next: "1.0.0.0.0.0" }],
    ["watch", { labels: { kind: "none" } }],
    ["list", { state: "running", limit: 5, cursor: "5", labels: { kind: "none" } }],
    ["status", { execution_id: readable }],
    ["receipt", { execution_id: readable }],
    [
      "transcript.read",
      { execution_id: readable, from: "start", limit_bytes: 1, encoding: "utf8" },
    ],
    ["transcript.verify", { execution_id: readable, contains: "by", hash: "00", stream: "stdout" }],
  ]
}

/** Parameters of an execute that is harmless whatever becomes of them, noted as asked for. */
export function executeFields(chance: Chance, asked: Asked): Fields {
  const mark = `hostile-${asked.size}-${chance(0xffff_ffff)}`
  const argv = ["/bin/true", mark]
  asked.set(mark, argv)
  const fields = {
    argv,
    cwd: "/",
    env: { A: "1" },
    stdin: "closed",
    timeout: 5,
    idle_timeout: 5,
    budget: { bytes: 4096, lines: 10, policy: "drop-oldest" },
    encoding: "utf8",
    on_disconnect: "keep",
    labels: { kind: "hostile" },
  }
  // What is executed stays as it is: a mutated argument list could do anything.
  const { argv: kept, ...others } = fields
  const { command: _, argv: __, ...changed } = mutated(chance, others)
  return { argv: kept, ...changed }
}

/** The text of a message: a request with something wrong in it, or something that is none. */
export function hostileMessage(chance: Chance, targets: Targets, asked: Asked): string {
  switch (chance(12)) {
    case 0:
      return request(chance, "execute", executeFields(chance, asked))
    case 1:
      return JSON.stringify(hostileValue(chance)) ?? "undefined"
    case 2:
      return `[${request(chance, "list", {})},${request(chance, "list", {})}]`
    case 3:
      return nested(chance)
    case 4:
      return '{"jsonrpc":"2.0","id":1,"id":2,"method":"rm","method":"list","params":{},"params":[]}'
    case 5:
      return `{"jsonrpc":"2.0","id":${oneOf(chance, hugeNumbers)},"method":"list"}`
    case 6:
      return broken(chance, request(chance, "list", { limit: 3 }))
    case 7:
      return request(chance, oneOf(chance, strangeMethods), hostileValue(chance))
    default: {
      const [first, ...others] = meantRequests(targets)
      if (first === undefined) return ""
      const [method, fields] = oneOf(chance, [first, ...others])
      return request(chance, method, chance(6) === 0 ? fields : mutated(chance, fields))
    }
  }
}

const hugeNumbers = [
  "1e999",
  "-1e999",
  "9".repeat(400),
  "0.1e-999",
  "-0",
  "01",
  "0x10",
  "NaN",
] as const
const strangeMethods = [
  "__proto__",
  "constructor",
  "",
  "connected",
  "execute\0",
  "process.output",
] as const

function request(chance: Chance, method: string, params: unknown): string {
  const id = oneOf<unknown>(chance, [1, "a", -1.5, "", null, {}, [], true, "\ud800", 2 ** 60])
  const jsonrpc = chance(20) === 0 ? hostileValue(chance) : "2.0"
  return JSON.stringify({ jsonrpc, id, method, params })
}

function nested(chance: Chance): string {
  const depth = 1 + chance(20_000)
  const [open, close] = oneOf(chance, [
    ["[", "]"],
    ['{"params":', "}"],
  ])
  const inner = open.repeat(depth) + "1" + close.repeat(chance(2) === 0 ? depth : depth - 1)
  return `{"jsonrpc":"2.0","id":1,"method":"list","params":${inner}}`
}

/** With a character too many, too few, or another one. */
function broken(chance: Chance, text: string): string {
  const at = chance(text.length)
  const put = oneOf(chance, ["", "\0", '"', "\\", "\\u", "\\ud83d", "\u2028", "}", "//"])
  return text.slice(0, at) + put + text.slice(at + chance(3))
}
