import { NotReady, type Unreadiness } from "../../protocol/health-report.ts"
import { parseJson } from "../../protocol/parse-json.ts"
import { onOneLine } from "../terminal/table.ts"

/** What /readyz says is wrong; null where that is no answer of ours. */
export function unreadinessIn(body: string): Unreadiness[] | null {
  const json = parseJson(body)
  return NotReady.safeParse(json.ok ? json.value : null).data?.reasons ?? null
}

/** For one line: a remote service's words are a stranger's. */
export function unreadinessText({ name, message, action }: Unreadiness): string {
  return onOneLine(`${name}: ${message} ${action}`)
}
