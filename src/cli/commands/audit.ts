import { countText } from "../../lib/count-text.ts"
import { errnoOf } from "../../lib/errno.ts"
import type { Link } from "../../service/audit/chain.ts"
import {
  type AuditText,
  allLines,
  endOfTrail,
  FollowedTrail,
  linesSince,
  newestLines,
  type TrailPosition,
} from "../../service/audit/read-audit.ts"
import { type AuditVerdict, verifyAudit } from "../../service/audit/verify-audit.ts"
import { type Arguments, flag, option } from "../arguments.ts"
import { command } from "../command.ts"
import { addressOf, addressOptions } from "../connect/address.ts"
import type { Context } from "../context.ts"
import { CommandFailure, UsageFailure } from "../failure.ts"
import { auditTable } from "../terminal/audit-table.ts"
import { asLines } from "../terminal/terminal-text.ts"
import { countOption, timeOption } from "../time.ts"

const defaultLines = 50
const lookAgainMs = 200

const options = {
  lines: option("N", "the newest N (default 50)", { short: "n" }),
  all: flag("every line"),
  since: option("TIME", "since then: 10m ago, or a date"),
  follow: flag("keep printing new lines", { short: "f" }),
  verify: flag("check that no line was changed, removed or inserted"),
  head: option("NUMBER:HASH", "check that the trail contains this earlier head"),
  json: flag("the raw lines; with --verify, one JSON document"),
  ...addressOptions,
}

type AuditValues = Arguments<typeof options>["values"]

export const auditCommand = command({
  usage: ["audit [OPTIONS]", "audit --verify [--head NUMBER:HASH]"],
  about: `\
Reads the files of the local state directory, whether or not a service is running. Only an
earlier head can show that lines were cut off at the end: keep the one that --verify prints
somewhere else.`,
  options,
  examples: {
    "recent requests, and who made them": "cc-executor audit",
    "everything in the last hour, as JSON": "cc-executor audit --since 1h --json",
    "new requests as they come": "cc-executor audit -n 0 --follow",
    "check for tampering": "cc-executor audit --verify",
  },
  async run(context, { values }) {
    const address = addressOf(context, values)
    if (address.kind === "remote") {
      throw new UsageFailure(
        "The audit trail can only be read on the machine of the service: leave out --url.",
      )
    }
    const { audit: directory } = address.paths
    try {
      if (values.verify === true || values.head !== undefined) {
        return await verify(context, values, directory)
      }
      if (values.follow === true) return await follow(context, values, directory)
      await show(context, values, chosenLines(context, values, directory, endOfTrail(directory)))
      return 0
    } catch (error) {
      const errno = errnoOf(error)
      if (errno === null) throw error
      throw new CommandFailure(`The audit trail in ${directory} cannot be read (${errno}).`)
    }
  },
})

function chosenLines(
  context: Context,
  values: AuditValues,
  directory: string,
  end: TrailPosition,
): Iterable<AuditText> {
  const { lines, all, since } = values
  if ([lines, all, since].filter((value) => value !== undefined).length > 1) {
    throw new UsageFailure("Use only one of --lines, --all and --since.")
  }
  if (since !== undefined) {
    return linesSince(directory, timeOption("--since", since, context.now()), end)
  }
  if (all === true) return allLines(directory, end)
  const most = lines === undefined ? defaultLines : countOption("--lines", lines)
  return newestLines(directory, most, end)
}

async function show(
  context: Context,
  values: AuditValues,
  lines: Iterable<AuditText>,
): Promise<void> {
  if (values.json !== true) {
    await context.stdout.write(asLines(auditTable(context, lines)))
    return
  }
  for (const { text } of lines) await context.stdout.write(`${text}\n`)
}

/** Until the program is ended. */
async function follow(context: Context, values: AuditValues, directory: string): Promise<number> {
  const shownUntil = endOfTrail(directory)
  await show(context, values, chosenLines(context, values, directory, shownUntil))
  const followed = new FollowedTrail(directory, shownUntil)
  for (;;) {
    for (const line of followed.next()) {
      const text = values.json === true ? line.text : auditTable(context, [line]).slice(-1)
      await context.stdout.write([text, "\n"])
    }
    await Bun.sleep(lookAgainMs)
  }
}

async function verify(context: Context, values: AuditValues, directory: string): Promise<number> {
  const noted = values.head === undefined ? null : readHead(values.head)
  const verdict = verifyAudit(directory, noted)
  const text = values.json === true ? verdictJson(verdict) : verdictText(verdict, directory, noted)
  await context.stdout.write(`${text}\n`)
  return verdict.verified ? 0 : 1
}

function readHead(text: string): Link {
  const [, number, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? []
  if (number !== undefined && hash !== undefined) return { number: Number(number), hash }
  throw new UsageFailure(`--head: "${text}" is not a head: use NUMBER:HASH as --verify prints it.`)
}

function verdictJson({ unfinishedBytes: unfinished_bytes, ...verdict }: AuditVerdict): string {
  return JSON.stringify({ ...verdict, unfinished_bytes })
}

function verdictText(verdict: AuditVerdict, directory: string, noted: Link | null): string {
  const { fault, from, head, files, unfinishedBytes } = verdict
  if (fault !== null) {
    const where = fault.line === 0 ? fault.file : `line ${fault.line} of ${fault.file}`
    const last = head === null ? "no line" : `${head.number}:${head.hash}`
    return `broken     ${where} in ${directory} ${fault.why}\nintact to  ${last}`
  }
  if (from === null || head === null) return `intact     no lines yet in ${directory}`
  const lines = [
    `intact     lines ${from} to ${head.number} in ${countText(files, "file")}`,
    `head       ${head.number}:${head.hash}`,
  ]
  if (noted !== null) lines.push(`noted      ${noted.number} found, hash matches`)
  if (unfinishedBytes > 0) {
    const bytes = countText(unfinishedBytes, "byte")
    lines.push(`unfinished ${bytes}: a line is being written, or was cut off by a crash`)
  }
  return lines.join("\n")
}
