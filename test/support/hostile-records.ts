import { mkdirSync, rmdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { hostile, hostileName } from "./hostile-text.ts"
import { RawSession } from "./raw-session.ts"
import { Service } from "./service.ts"
import { until } from "./until.ts"

/** A service that has run what has such names, and runs one more. */
export async function serviceWithHostileRecords(
  folder: string,
  names: readonly string[],
): Promise<{ service: Service; id: string }> {
  const service = await Service.start({ flags: { "max-executions": "1" } })
  using session = await RawSession.open(await service.url())
  const [one, two, three] = names.map((name) => ({ labels: { name, [hostile]: hostile } }))
  const argv = ["printf", hostileName]
  await session.call("execute", { argv, ...one })
  await session.call("execute", { command: `true ${hostile}`, shell: true, ...two })
  // One that waits for its turn, and whose directory is gone by then.
  const cwd = join(folder, hostile)
  mkdirSync(cwd, { recursive: true })
  const first = await session.call("execute", { argv: ["sleep", "1000"] })
  const second = await session.call("execute", { argv: ["true"], cwd, ...three })
  rmdirSync(cwd)
  await session.call("control", { type: "CANCEL", execution_id: first.execution_id })
  const id = second.execution_id
  await until("it has ended", async () => {
    return (await session.call("status", { execution_id: id })).state === "ended"
  })
  // One that `stop` lists and asks about, whatever others are there by then.
  const running = ["sh", "-c", "sleep 1000", hostileName]
  await session.call("execute", { argv: running, labels: { [hostile]: hostile } })
  return { service, id }
}

/** What a hostile hand could have written there. */
export function plantHostileFiles(stateDir: string): void {
  const put = (name: string, value: unknown) =>
    writeFileSync(join(stateDir, name), typeof value === "string" ? value : JSON.stringify(value))
  put("tokens.json", { version: 1, tokens: [{ id: hostile, name: hostile }] })
  put("service.log", `${hostile}\n`)
  put("schema.json", { version: hostile })
  put("upgrade-report.json", { upgrade: hostile, phase: "refused", why: hostile })
  put("receipt-key.pem", hostile)
  put("journal.sqlite", hostile)
  mkdirSync(join(stateDir, "audit"))
  const line = { number: 1, time: hostile, event: "service-ended", outcome: "happened" }
  const told = JSON.stringify({ ...line, what: { why: hostile } })
  writeFileSync(join(stateDir, "audit", "00000001.jsonl"), `${told}\n${hostile}\n`)
}
