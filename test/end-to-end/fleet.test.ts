import { afterAll, beforeAll, describe, expect } from "bun:test"
import { z } from "zod"
import { ExecutionView } from "../../src/protocol/execution-view.ts"
import { NodeView } from "../../src/protocol/node.ts"
import { cliOf } from "../support/cli-of.ts"
import { engineMissing } from "../support/engine.ts"
import { Fleet } from "../support/fleet.ts"
import { testUnless } from "../support/test-unless.ts"
import { until } from "../support/until.ts"

let fleet: Fleet

beforeAll(async () => {
  if (engineMissing !== null) return
  fleet = await Fleet.start(["a", "b", "c"], {
    of: { b: { "node-labels": "gpu=true", "max-executions": "2" } },
    flags: { "fleet-lost-after": "never" },
  })
}, 60_000)

afterAll(() => fleet?.[Symbol.asyncDispose]())

const alice = (node: string, ...args: string[]) => fleet.as("alice", node, ...args)
const local = (node: string, ...args: string[]) => cliOf(fleet.service(node), ...args)

const Listed = z.object({ executions: z.array(ExecutionView) })

async function list(node: string, ...args: string[]): Promise<ExecutionView[]> {
  const { out } = await alice(node, "ps", "--json", ...args)
  return Listed.parse(JSON.parse(out)).executions
}

async function inspect(node: string, id: string): Promise<ExecutionView> {
  const { out, error } = await alice(node, "inspect", id, "--json")
  if (out === "") throw new Error(error)
  return ExecutionView.parse(JSON.parse(out))
}

async function start(node: string, ...args: string[]): Promise<string> {
  const { out, error } = await alice(node, "run", "-d", ...args)
  if (out === "") throw new Error(error)
  return out.trim()
}

async function nodes(at: string): Promise<NodeView[]> {
  const { out } = await local(at, "node", "ls", "--json")
  return z.object({ nodes: z.array(NodeView) }).parse(JSON.parse(out)).nodes
}

describe("an execution that one node was asked for, on another one", () => {
  testUnless(engineMissing, "runs there, and is followed to its end here", async () => {
    const run = await alice("a", "run", "--on", "gpu=true", "--", "sh", "-c", "echo here; exit 3")

    expect(run).toEqual({ out: "here\n", error: "", exitCode: 3 })
    await until("c knows of its end", async () => {
      const [view] = await list("c", "-a")
      return view?.ending?.exit_code === 3 && view.placement?.node === "b"
    })
  })

  testUnless(engineMissing, "is listed, read, steered and ended from a third", async () => {
    const id = await start("a", "--on", "node=b", "--", "sh", "-c", "echo one; sleep 600")
    await until("c lists it", async () => (await list("c")).some((one) => one.execution_id === id))

    expect((await alice("c", "pause", id)).exitCode).toBe(0)
    expect((await inspect("a", id)).state).toBe("paused")
    expect((await alice("c", "resume", id.slice(0, 8))).exitCode).toBe(0)
    expect((await alice("c", "logs", id)).out).toBe("one\n")
    const attached = alice("c", "attach", id)
    expect((await alice("a", "cancel", id)).exitCode).toBe(0)
    expect((await attached).out).toBe("one\n")
    expect((await inspect("c", id)).ending).toMatchObject({ outcome: "stopped", cause: "client" })
  })

  testUnless(engineMissing, "has a receipt of its node's key, which others can check", async () => {
    const named = ["--on", "node=b", "--name", "signed", "--", "echo", "kept"]
    expect((await alice("a", "run", ...named)).exitCode).toBe(0)

    const { out } = await alice("c", "receipt", "signed", "--json")

    const payload = Buffer.from(JSON.parse(out).payload, "base64").toString()
    expect(JSON.parse(payload)).toMatchObject({
      principal: "alice",
      placed: { node: "b", attempt: 1 },
    })
    const verified = await alice("c", "verify", "signed", "--contains", "kept")
    expect(verified.out).toContain("valid, signed by key")
    expect(verified.exitCode).toBe(0)
  })

  testUnless(engineMissing, "belongs to whoever is local to the node that was asked", async () => {
    const run = await local("a", "run", "-d", "--on", "node=b", "--", "sleep", "600")
    const id = run.out.trim()

    const view = ExecutionView.parse(JSON.parse((await local("a", "inspect", id, "--json")).out))
    expect(view.principal).toBe("local@a")
    expect((await local("c", "cancel", id)).error).toContain("Unknown execution")
    expect((await alice("c", "cancel", id)).error).toContain("Unknown execution")
    expect((await local("b", "cancel", id)).exitCode).toBe(0) // the admin of the node it runs on
  })
})

describe("placing", () => {
  testUnless(
    engineMissing,
    "stays on the node that was asked, if nobody says where to",
    async () => {
      const id = await start("c", "--", "true")
      expect((await inspect("c", id)).placement?.node).toBe("c")
    },
  )

  testUnless(engineMissing, "refuses what no node can take", async () => {
    const nowhere = await alice("a", "run", "--on", "gpu=maybe", "--", "true")
    expect(nowhere.error).toContain("No node of the fleet has gpu=maybe")

    const ids = [await start("a", "--on", "gpu=true", "--", "sleep", "600")]
    ids.push(await start("c", "--on", "gpu=true", "--", "sleep", "600"))
    const third = await alice("a", "run", "--on", "gpu=true", "--", "true")
    expect(third.error).toContain("No slot is free on b")
    for (const id of ids) expect((await alice("a", "cancel", id)).exitCode).toBe(0)
    await until("b has room again", async () => {
      return (await alice("a", "run", "--on", "gpu=true", "--", "true")).exitCode === 0
    })
  })

  testUnless(
    engineMissing,
    "starts one execution for a key, asked at all nodes at once",
    async () => {
      const asked = ["--idempotency-key", "once", "--on", "node=b", "--", "sleep", "600"]
      const started = await Promise.all(
        ["a", "b", "c", "a", "b", "c"].map((node) => start(node, ...asked)),
      )

      const [id = ""] = started
      expect(new Set(started).size).toBe(1)
      expect((await alice("a", "cancel", id)).exitCode).toBe(0)
      const other = await alice("c", "run", "--idempotency-key", "once", "--", "true")
      expect(other.error).toContain("was used for another request")
    },
  )

  testUnless(engineMissing, "passes by a node that is drained, until it is undrained", async () => {
    expect((await local("c", "node", "drain", "b")).out).toBe("b takes nothing new.\n")
    await until("a knows", async () => (await nodes("a"))[1]?.state === "draining")

    const refused = await alice("a", "run", "--on", "node=b", "--", "true")
    expect(refused.error).toContain("No slot is free on b (draining)")
    for (const order of ["drain", "undrain", "forget"]) {
      expect((await alice("a", "node", order, "b")).error).toContain("`admin`")
    }
    expect((await local("a", "node", "undrain", "b")).exitCode).toBe(0)
    expect((await alice("a", "run", "--on", "node=b", "--", "true")).exitCode).toBe(0)
    expect((await local("a", "node", "forget", "b")).error).toContain("only a node that is silent")
  })
})

describe("a list of everything", () => {
  testUnless(engineMissing, "comes page by page, newest first, nothing twice", async () => {
    const key = ["--label", "page=yes"]
    for (const node of ["a", "b", "c", "b", "a", "c", "c"]) {
      await start("a", "--on", `node=${node}`, ...key, "--", "true")
    }
    await until("b knows of all", async () => (await list("b", "-a", ...key)).length === 7)

    const views = await list("b", "-a", ...key, "-n", "5")

    expect(views.map(({ placement }) => placement?.node)).toEqual(["c", "c", "a", "b", "c"])
  })
})
