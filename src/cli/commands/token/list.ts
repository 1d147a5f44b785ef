import { flag } from "../../arguments.ts"
import { command } from "../../command.ts"
import { localState } from "../../connect/address.ts"
import type { Context } from "../../context.ts"
import { coloursFor } from "../../terminal/colours.ts"
import { renderTable } from "../../terminal/table.ts"
import { asLines, type Text } from "../../terminal/terminal-text.ts"
import { ownTokens, type TokenView, tokenOptions, tokenView } from "./own-tokens.ts"

export const tokenListCommand = command({
  usage: ["token list [OPTIONS]"],
  about: `\
Includes expired and revoked tokens for at least 90 days. Only hashes are kept, so the tokens
themselves cannot be shown; \`token show\` prints the one that a service has made for itself.
Sessions of the console in browsers are listed, too, and end with their token.`,
  options: { json: flag("one JSON document"), ...tokenOptions },
  examples: {
    "all tokens, oldest first": "cc-executor token list",
    "for programs": "cc-executor token list --json",
  },
  async run(context, { values }) {
    const now = context.now()
    const tokens = ownTokens(localState(context, values["state-dir"]).paths)
    const views = tokens.map((entry) => tokenView(entry, now))
    const lines =
      values.json === true
        ? [JSON.stringify({ tokens: views }, null, 2)]
        : tokenTable(context, views)
    await context.stdout.write(asLines(lines))
    return 0
  },
})

const columns = ["ID", "NAME", "SCOPES", "CREATED", "EXPIRES", "STATE"]

function tokenTable(context: Context, views: readonly TokenView[]): Text[] {
  const colours = coloursFor(context.stdout, context.env)
  const rows = views.map((view) => [
    { text: view.id, paint: colours.cyan },
    { text: view.name },
    { text: view.scopes.join(",") },
    { text: minuteOf(view.created_at) },
    { text: view.expires_at === null ? "never" : minuteOf(view.expires_at) },
    { text: stateOf(view), paint: view.state === "good" ? colours.green : colours.dim },
  ])
  return renderTable(columns, rows, context.stdout.width())
}

/** What a console in a browser has been given for a token is listed with it. */
function stateOf({ state, session_of }: TokenView): string {
  return session_of === null ? state : `${state}, session of ${session_of}`
}

/** `2026-11-16 12:00Z`: to the minute, and in one time zone wherever it is read. */
function minuteOf(time: string): string {
  return `${time.slice(0, 16).replace("T", " ")}Z`
}
