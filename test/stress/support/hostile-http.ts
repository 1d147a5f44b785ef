import { type Chance, oneOf, someBytes } from "../../support/chance.ts"
import { hostileValue } from "../../support/hostile-values.ts"
import { type Asked, executeFields, type Targets } from "./hostile-requests.ts"

/** One connection's worth of bytes that are, more or less, HTTP. */
export function hostileHttp(
  chance: Chance,
  host: string,
  targets: Targets,
  asked: Asked,
): Uint8Array {
  switch (chance(9)) {
    case 0:
      return bytes(`${oneOf(chance, requestLines)}\r\nHost: ${host}\r\n\r\n`)
    case 1:
      return bytes(`GET /health HTTP/1.1\r\n${oneOf(chance, headerBlocks)(host)}\r\n\r\n`)
    case 2:
      return bytes(
        post("/executions", host, `${asJson}\r\nTransfer-Encoding: chunked`) +
          oneOf(chance, chunkLies),
      )
    case 3:
      return lyingLength(chance, host)
    case 4:
      return bytes(pipeline(chance, host))
    case 5:
      return bytes(`GET ${strangePath(chance, targets)} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
    case 6:
      return withBody(chance, host, "/executions", JSON.stringify(executeFields(chance, asked)))
    case 7: {
      const path = oneOf(chance, [`/executions/${targets.own}/input`, `/executions/0/control`])
      return withBody(chance, host, path, JSON.stringify(hostileValue(chance)) ?? "")
    }
    default:
      return someBytes(chance, 1 + chance(600))
  }
}

/** A request to become a WebSocket in which something is missing, twice or wrong. */
export function hostileUpgrade(chance: Chance, host: string): Uint8Array {
  const headers = new Map(upgradeHeaders(host))
  for (let changes = 1 + chance(3); changes > 0; changes -= 1) {
    const name = oneOf(chance, ["X-Extra", ...headers.keys()])
    const value = oneOf(chance, headerValues)
    if (value === null) headers.delete(name)
    else headers.set(name, value)
  }
  const line = oneOf(chance, upgradeLines)
  const lines = [...headers].map(([name, value]) => `${name}: ${value}\r\n`)
  return bytes(`${line}\r\n${lines.join("")}\r\n`)
}

export function goodUpgrade(host: string): Uint8Array {
  const lines = upgradeHeaders(host).map(([name, value]) => `${name}: ${value}\r\n`)
  return bytes(`GET /ws/mcp HTTP/1.1\r\n${lines.join("")}\r\n`)
}

function upgradeHeaders(host: string): [string, string][] {
  return [
    ["Host", host],
    ["Connection", "Upgrade"],
    ["Upgrade", "websocket"],
    ["Sec-WebSocket-Version", "13"],
    ["Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="],
  ]
}

const upgradeLines = [
  "GET /ws/mcp HTTP/1.1",
  "GET /ws/mcp?x=%zz HTTP/1.1",
  "GET /ws/mcp/ HTTP/1.1",
  "GET /ws/mcp HTTP/1.0",
  "POST /ws/mcp HTTP/1.1",
  "HEAD /ws/mcp HTTP/1.1",
  "GET http://elsewhere/ws/mcp HTTP/1.1",
  "GET /health HTTP/1.1",
] as const

const headerValues = [
  null,
  "",
  "x",
  "\x7f",
  "keep-alive, Upgrade",
  "h2c",
  "8",
  "13, 13",
  "mcp",
  "a, b, mcp , ,",
  "permessage-deflate; client_max_window_bits=99; server_no_context_takeover=;",
  "http://elsewhere.example",
  "null",
  "k".repeat(9000),
] as const

const requestLines = [
  "",
  "GET",
  "GET /",
  "GET / HTTP/9.9",
  "GET  /health  HTTP/1.1",
  "G\0T /health HTTP/1.1",
  "get /health HTTP/1.1",
  "GET /health\0 HTTP/1.1",
  "GET http://[::bad/ HTTP/1.1",
  "GET http:// HTTP/1.1",
  "GET //[/health HTTP/1.1",
  "GET \\health HTTP/1.1",
  "GET ?limit=1 HTTP/1.1",
  "GET * HTTP/1.1",
  "OPTIONS * HTTP/1.1",
  "CONNECT localhost:22 HTTP/1.1",
  "TRACE / HTTP/1.1",
  "PATCH /executions HTTP/1.1",
  "PRI * HTTP/2.0",
  `GET /${"a".repeat(15_000)} HTTP/1.1`,
  `GET /health?${"a=b&".repeat(20_000)} HTTP/1.1`,
  `${"M".repeat(5000)} / HTTP/1.1`,
  "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
] as const

const headerBlocks: [Block, ...Block[]] = [
  () => "Host",
  () => "",
  () => ": nothing",
  () => "Host: a b",
  () => "Host: [",
  () => "Host: user@127.0.0.1/x",
  () => "Host: 127.0.0.1:99999999",
  () => "Host: \xff\xfe",
  (host) => `Host: ${host}\r\nHost: elsewhere`,
  (host) => `Host: ${host}\r\nX: a\0b`,
  (host) => `Host: ${host}\nX: bare\n`,
  (host) => `Host: ${host}\r\nX: folded\r\n  on`,
  (host) => `Host: ${host}\r\nX : space`,
  (host) => `Host: ${host}\r\nX: ${"h".repeat(200_000)}`,
  (host) => `Host: ${host}\r\n${"A: b\r\n".repeat(3000)}X: y`,
  (host) => `Host: ${host}\r\nContent-Length: -1`,
  (host) => `Host: ${host}\r\nContent-Length: 18446744073709551616`,
  (host) => `Host: ${host}\r\nContent-Length: 1\r\nContent-Length: 2`,
  (host) => `Host: ${host}\r\nContent-Length: 5\r\nTransfer-Encoding: chunked`,
  (host) => `Host: ${host}\r\nTransfer-Encoding: gzip, identity`,
  (host) => `Host: ${host}\r\nExpect: 100-continue\r\nContent-Length: 10`,
  (host) => `Host: ${host}\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c`,
  (host) => `Host: ${host}\r\nRange: bytes=5-1,-,x\r\nAccept: ${"*/*,".repeat(2000)}`,
  (host) => `Host: ${host}\r\nOrigin: http://[`,
]
type Block = (host: string) => string

const chunkLies = [
  "FFFFFFFFFFFFFFFF\r\n{}\r\n0\r\n\r\n",
  "-1\r\n{}\r\n0\r\n\r\n",
  "zz\r\n{}\r\n0\r\n\r\n",
  "5\r\n{}\r\n0\r\n\r\n",
  "1\r\n{}\r\n0\r\n\r\n",
  "2\r\n{}\r\n",
  "2\r\n{}",
  `2;${"e".repeat(20_000)}\r\n{}\r\n0\r\n\r\n`,
  "2\r\n{}\r\n0\r\nTrailer: x\r\n\r\n",
  "0\r\n\r\nGET /health HTTP/1.1\r\n\r\n",
  "1\r\n{\r\n".repeat(500),
] as const

function lyingLength(chance: Chance, host: string): Uint8Array {
  // A body that is cut off at its stated length, or never comes to it, asks for nothing.
  const body = JSON.stringify(executeFields(chance, new Map()))
  const length = oneOf(chance, [1, body.length - 1, body.length + 7, 10 ** 9, 2 ** 31, 2 ** 53])
  return bytes(post("/executions", host, `${asJson}\r\nContent-Length: ${length}`) + body)
}

function pipeline(chance: Chance, host: string): string {
  const lines = ["GET /health HTTP/1.1", "GET /executions?limit=1 HTTP/1.1", "HEAD / HTTP/1.1"]
  return Array.from({ length: 2 + chance(60) }, () => {
    const line = chance(15) === 0 ? oneOf(chance, requestLines) : oneOf(chance, ["", ...lines])
    return `${line}\r\nHost: ${host}\r\n\r\n`
  }).join("")
}

function strangePath(chance: Chance, { readable }: Targets): string {
  const one = `/executions/${readable}`
  const value = oneOf(chance, queryValues)
  return oneOf(chance, [
    `/executions?limit=${value}`,
    `/executions?state=${value}&cursor=${value}`,
    `/executions?label=${value}&label=${value}`,
    `/executions?__proto__=${value}&constructor=x&limit=1&limit=2`,
    `/executions/${value}`,
    `/executions/${value}/receipt`,
    `/executions/%E0%A4%A`,
    `/executions/..%2f..%2fetc%2fpasswd`,
    `${one}/output?follow=false&from=${value}`,
    `${one}/output?follow=${value}&stream=${value}`,
    `${one}/output?follow=false&stream=stderr&encoding=${value}`,
    `${one}/transcript?limit_bytes=${value}&from=tail`,
    `${one}/transcript?limit_bytes=1&encoding=${value}`,
    `${one}/transcript?from=${value}`,
    `${one}/receipt?${value}`,
    `/events?label=${value}`,
    `/${value}`,
  ])
}

const queryValues = [
  "",
  "0",
  "-1",
  "1e9",
  "99999999999999999999",
  "%",
  "%zz",
  "%00",
  "%FF%FE",
  "%F0%9F%98",
  "+",
  "a%3Ab",
  "true",
  "tail%3A5",
  "since%3A2020-01-01",
  "1.0.0.0.0.0",
  "__proto__",
  "x".repeat(5000),
] as const

const asJson = "Content-Type: application/json"

function withBody(chance: Chance, host: string, path: string, body: string): Uint8Array {
  const type = chance(6) === 0 ? "text/plain" : "application/json"
  const content = Buffer.from(body)
  const head = post(path, host, `Content-Type: ${type}\r\nContent-Length: ${content.length}`)
  return Buffer.concat([bytes(head), content])
}

function post(path: string, host: string, header: string): string {
  return `POST ${path} HTTP/1.1\r\nHost: ${host}\r\n${header}\r\n\r\n`
}

/** One byte for a character, so that any byte can be written down. */
function bytes(text: string): Uint8Array {
  return Buffer.from(text, "latin1")
}
