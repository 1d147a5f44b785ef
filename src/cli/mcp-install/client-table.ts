import { existsSync } from "node:fs"
import type { Context } from "../context.ts"
import { coloursFor } from "../terminal/colours.ts"
import { type Column, renderTable } from "../terminal/table.ts"
import type { McpClient } from "./clients.ts"

const columns: readonly Column[] = [
  { title: "CLIENT" },
  { title: "HERE" },
  { title: "TRANSPORTS" },
  { title: "SCOPES" },
  { title: "FILE" },
]

/** What can be set up, and what seems to be in use here. */
export function clientTable(context: Context, clients: readonly McpClient[]): string[] {
  const colours = coloursFor(context.stdout, context.env)
  const rows = clients.map((client) => {
    const isHere = client.traces.some((path) => existsSync(path(context)))
    return [
      { text: client.name, paint: colours.cyan },
      { text: isHere ? "yes" : "no", paint: isHere ? colours.green : colours.dim },
      { text: client.transports.join(",") },
      { text: Object.keys(client.files).join(",") },
      { text: client.files.user(context) },
    ]
  })
  return renderTable(columns, rows, context.stdout.width())
}
