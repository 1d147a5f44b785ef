import { writeSync } from "node:fs"
import { resolve } from "node:path"
import { parseEnv } from "node:util"
import { executionMarker } from "../../execution/id.ts"
import { messageOf } from "../../lib/errno.ts"
import { tryParseJson } from "../../lib/parse-json.ts"
import { readRegularFile } from "../../lib/read-given-file.ts"
import { type HostStart, hostVersion, type StampedOrder } from "../../protocol/agent-orders.ts"
import { withRealDirectories } from "../../service/os/real-directories.ts"
import { Reaper } from "../../service/os/reaper.ts"
import { ClaudeAgent, type Surroundings } from "../claude/claude-agent.ts"
import { isFields, textOf } from "../claude/fields.ts"
import type { Agent } from "../port.ts"
import { Approvals } from "./approvals.ts"
import { EventLog } from "./event-log.ts"
import { systemHostClock as clock } from "./host-clock.ts"
import { endDescendants } from "./leftovers.ts"
import { Recorder } from "./recorder.ts"
import { Session } from "./session.ts"
import { StatusChannel } from "./status-channel.ts"

const ordersFd = 0
const eventsFd = 1
const errorsFd = 2
const statusFd = 3

/**
 * The leader of an agent's execution: runs the agent as its child, takes orders on standard input,
 * writes what happens to standard output, and tells the keeper how it stands on a descriptor of
 * its own. All three are sockets, which no other process can open by their names in /proc.
 */
export async function runAgentHost(): Promise<number> {
  using reaper = new Reaper()
  const { promise: over, resolve: end } = Promise.withResolvers<number>()
  const log = new EventLog(
    (bytes) => writeAll(eventsFd, bytes),
    () => clock.now(),
  )
  let session: Session | null = null
  process.on("SIGTERM", () => (session === null ? end(143) : session.terminated()))
  process.on("SIGINT", () => undefined) // a terminal's, meant for whoever is in front of it

  const begin = (order: StampedOrder, start: HostStart) => {
    const spawned = (pid: number, exited: Promise<unknown>) => reaper.isMine(pid, exited)
    const complained = (bytes: Uint8Array) => writeAll(errorsFd, bytes)
    const agent = agentFor(start, { env: () => environment(start), spawned, complained })
    const channel = new StatusChannel(
      (bytes) => writeAll(statusFd, bytes),
      clock,
      () => begun.status(),
      (told) => void log.add("status", told),
    )
    const begun = new Session(start, {
      agent,
      clock,
      approvals: new Approvals(clock, withRealDirectories(start.approval), process.cwd()),
      record: new Recorder(log, () => begun.status()),
      statusChanged: (isUrgent) => channel.changed(isUrgent),
      answered: (ack, failure) => {
        channel.send({ ack, written: log.writtenBytes, ...(failure && { failure }) })
      },
      decided: (decided) => channel.send({ decided }),
      endLeftovers: () => endDescendants(() => false),
      ended: ({ cause, message, exitCode }) => {
        channel.flush()
        log.add("ended", { cause: cause ?? "end", message })
        channel.send({ end: { cause, message } })
        end(exitCode)
      },
    })
    session = begun
    begun.begin(order.by)
    channel.send({ ack: order.id, written: log.writtenBytes })
  }

  void readOrders((order) => {
    if (session !== null) session.obey(order)
    else if (order.order === "start") begin(order, order.start)
  }).catch((error: unknown) => {
    log.add("problem", { problem: `Orders cannot be read any more: ${messageOf(error)}` })
    end(70)
  })
  return await over
}

function agentFor(start: HostStart, surroundings: Surroundings): Agent {
  switch (start.spec.agent) {
    case "claude":
      return new ClaudeAgent(start, surroundings)
  }
}

/** More than a program can be started with. */
const mostVariableBytes = 4_194_304

/** The execution's own, with what its file adds. */
function environment({ spec, cwd }: HostStart): Record<string, string | undefined> {
  const { envFile } = spec
  const text = envFile === null ? "" : readRegularFile(resolve(cwd, envFile), mostVariableBytes)
  const more = parseEnv(text)
  const marker = process.env[executionMarker]
  return { ...process.env, ...more, [executionMarker]: marker }
}

async function readOrders(obey: (order: StampedOrder) => void): Promise<void> {
  const pieces: Uint8Array[] = []
  for await (const bytes of Bun.file(ordersFd).stream()) {
    let from = 0
    for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, from)) {
      pieces.push(bytes.subarray(from, at))
      const order = readOrder(Buffer.concat(pieces).toString("utf8"))
      pieces.length = 0
      if (order !== null) obey(order)
      from = at + 1
    }
    pieces.push(bytes.slice(from))
  }
}

/** Only the keeper can write there; a newer one than this program may say what it does not know. */
function readOrder(text: string): StampedOrder | null {
  const order = tryParseJson(text)
  return isOrder(order) ? order : null
}

function isOrder(order: unknown): order is StampedOrder {
  return isFields(order) && order["v"] === hostVersion && textOf(order["order"]) !== null
}

/** Waits until all of it is taken: who does not read holds the agent up, and nothing is lost. */
function writeAll(fd: number, bytes: Uint8Array): void {
  let written = 0
  while (written < bytes.length) written += writeSync(fd, bytes, written)
}
