import { CallError } from "../../client/client-error.ts"
import { countText } from "../../lib/count-text.ts"
import type { ResultOf } from "../../protocol/methods.ts"
import { type AddressValues, addressOf } from "../connect/address.ts"
import { tryReach } from "../connect/reach.ts"
import type { Context } from "../context.ts"
import { CommandFailure } from "../failure.ts"
import { type Finding, fail, ok, warn } from "./finding.ts"

const name = "fleet"

/** The fleet of a running service, and the engine it shares; nothing for a service of its own. */
export async function examineFleet(context: Context, values: AddressValues): Promise<Finding[]> {
  try {
    const reached = await tryReach(context, addressOf(context, values), "never")
    if (reached === null) return []
    await using _reached = reached
    return findingsOf(await reached.client.call("node.list", {}))
  } catch (error) {
    // It has no fleet, or does not tell this caller; what else is wrong is told by others.
    if (error instanceof CallError || error instanceof CommandFailure) return []
    throw error
  }
}

function findingsOf({ nodes, engine, missing }: ResultOf<"node.list">): Finding[] {
  const { version, replicas, servers, problems, unsafe } = engine
  const found = `NATS ${version}, ${countText(replicas ?? 0, "replica")}`
  const engineFinding =
    version === null
      ? fail(name, "the engine cannot be reached", "check the NATS servers of --fleet")
      : problems.length === 0
        ? ok(name, `${found}, ${countText(servers.length, "server")} that write at once`)
        : (unsafe ? warn : fail)(
            name,
            `${found}: it may lose what it has acknowledged: ${problems.join("; ")}`,
            "see `Configuration of the engine` in docs/fleet.md",
          )
  const silent = nodes.filter(({ state }) => state === "unreachable").map(({ node }) => node)
  return [
    engineFinding,
    ...(missing === null ? [] : [fail(name, missing, "see /readyz and the service's log")]),
    ...(silent.length === 0
      ? [ok(name, `${countText(nodes.length, "node")}, none of them silent`)]
      : [warn(name, `silent: ${silent.join(", ")}`, "start them, or see `node forget`")]),
  ]
}
