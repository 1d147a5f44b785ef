import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { readEnvironment } from "../../src/service/os/proc.ts"
import { scriptedAgentPath } from "../support/agent-deeds.ts"
import { processesOf } from "../support/agent-facts.ts"
import { AgentStage } from "../support/agent-stage.ts"
import { privateMbOf } from "../support/memory-of.ts"
import { RawSession } from "../support/raw-session.ts"
import { Service } from "../support/service.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { notRoot, testUnless } from "../support/test-unless.ts"
import { until } from "../support/until.ts"

// With a program in the place of Claude Code that says what the real one never would.

let stage: AgentStage

beforeAll(async () => {
  const variables = { PATH: scriptedAgentPath }
  stage = await AgentStage.set(() => ({ say: "nothing" }), { variables })
})

afterAll(() => stage[Symbol.asyncDispose]())

describe("garbage from an agent", () => {
  test("ends nothing, is told, and leaves no memory behind", async () => {
    const id = await stage.start()
    await stage.client.call("agent.send", { execution_id: id, text: "first" })
    await stage.whenTurnEnded(id)
    const { pid } = await stage.client.call("status", { execution_id: id })
    const before = privateMbOf(pid ?? 0)
    await stage.client.call("agent.send", { execution_id: id, text: "garbage" })
    await stage.whenTurnEnded(id, 2)
    await stage.client.call("agent.send", { execution_id: id, text: "after" })
    const status = await stage.whenTurnEnded(id, 3)

    expect(status).toMatchObject({ crashes: 0, questions: [], last_turn: { outcome: "success" } })
    const events = await stage.events(id)
    const problems = events.filter(({ event }) => event === "problem")
    expect(problems.map(({ problem }) => String(problem)).join("\n")).toMatch(
      /no JSON object[^]*no JSON object[^]*1000 levels[^]*second question[^]*dance/,
    )
    const inParts = events.filter(({ event, text }) => event === "message" && text !== undefined)
    const [deep, ...parts] = inParts
    expect(deep).toMatchObject({ text: expect.stringContaining("[[[[]]]]"), last: true })
    const text = parts.map((part) => String(part["text"])).join("")
    expect(text).toHaveLength('{"type":"user","text":""}'.length + 50_000_000)
    expect(parts.at(-1)).toMatchObject({ last: true })
    await until("its memory comes back", () => privateMbOf(pid ?? 0) < before + 30)
    await stage.client.call("control", { type: "CANCEL", execution_id: id })
  }, 120_000)
})

describe("the prompt of a session", () => {
  test("is a turn whose name is told to whoever starts it, however often it is asked", async () => {
    const asked = { prompt: "hang", cwd: stage.project, idempotency_key: "once" }
    const first = await stage.client.call("agent.start", asked)
    const again = await stage.client.call("agent.start", asked)
    const { execution_id: id, turn_id = "" } = first
    await stage.whenStatus(id, "the turn has begun", ({ turns }) => turns.current !== null)

    expect(again).toMatchObject({ execution_id: id, turn_id, repeated: true })
    const turns = (await stage.events(id)).filter(({ event }) => event === "turn")
    expect(turns).toMatchObject([{ turn_id, text: "hang" }])
    await stage.client.call("control", { type: "CANCEL", execution_id: id })
  })
})

describe("the host of a session", () => {
  test("that is killed ends the session with all of its processes, and it is told", async () => {
    const id = await stage.start({ prompt: "hang" })
    const { pid } = await stage.client.call("status", { execution_id: id })
    await until("the agent runs", () => processesOf(id).length > 1)
    process.kill(pid ?? 0, "SIGKILL")

    expect((await stage.whenEnded(id)).ending).toMatchObject({ signal: "SIGKILL" })
    expect(processesOf(id)).toEqual([])
  })

  test("cannot be spoken to by another process of its user", async () => {
    const id = await stage.start({ prompt: "hang" })
    const { pid } = await stage.client.call("status", { execution_id: id })
    for (const fd of [0, 1, 3]) {
      expect(() => writeFileSync(`/proc/${pid}/fd/${fd}`, "forged\n")).toThrow("ENXIO")
    }
    await stage.client.call("control", { type: "CANCEL", execution_id: id })
  })

  test("reads an env_file at every start, and ends with the reason where it cannot", async () => {
    const env_file = join(stage.project, "variables")
    writeFileSync(env_file, "GREETING=hello\n")
    const id = await stage.start({ prompt: "hang", env_file })
    // Between its fork and its exec, the agent still has the host's own variables.
    await until("the agent runs with the variable", () =>
      processesOf(id).some((pid) => readEnvironment(pid).includes("GREETING=hello")),
    )
    await stage.client.call("control", { type: "CANCEL", execution_id: id })

    rmSync(env_file)
    const without = await stage.start({ prompt: "hang", env_file })
    expect((await stage.whenEnded(without)).ending).toMatchObject({ cause: "agent-failed" })
    expect(JSON.stringify(await stage.events(without))).toContain("ENOENT")
    Bun.spawnSync(["mkfifo", env_file])
    const waiting = await stage.start({ prompt: "hang", env_file })
    expect((await stage.whenEnded(waiting)).ending).toMatchObject({ cause: "agent-failed" })
    expect(JSON.stringify(await stage.events(waiting))).toContain("is not a regular file")
  })
})

describe("a service whose executions run as another user", () => {
  testUnless(notRoot, "runs the host and the agent as that user", async () => {
    using folder = temporaryFolder()
    chmodSync(folder.path, 0o755)
    const claude = join(folder.path, "claude")
    writeFileSync(claude, agentInShell, { mode: 0o755 })
    const flags = { "run-as": "65534:65534" }
    const variables = { PATH: `${folder.path}:/usr/bin:/bin` }
    await using other = await AgentStage.set(() => ({ say: "nothing" }), { flags, variables })
    const id = await other.start({ prompt: "who are you?", cwd: "/" })
    const { last_turn } = await other.whenTurnEnded(id)

    expect(last_turn?.result).toBe("65534")
    const { pid } = await other.client.call("status", { execution_id: id })
    expect(readFileSync(`/proc/${pid}/status`, "utf8")).toMatch(/^Uid:\t65534\t65534/m)
    await other.client.call("control", { type: "CANCEL", execution_id: id })
    expect(processesOf(id)).toEqual([])
  })
})

/** Needs nothing but a shell, which every user may run; answers every turn with who it is. */
const agentInShell = `#!/bin/sh
while read -r line; do
  case "$line" in
    *initialize*)
      echo '{"type":"control_response","response":{"subtype":"success","request_id":"host-1"}}' ;;
    *'"type":"user"'*)
      uuid=\${line#*'"uuid":"'}
      printf '{"type":"result","subtype":"success","result":"%s","user_message_uuids":["%s"]}\\n' \\
        "$(id -u)" "\${uuid%%\\"*}" ;;
  esac
done
`

describe("a service with an allow-list", () => {
  test("judges the agent's program, and lets no file set its variables", async () => {
    const flags = { "allowed-commands": "claude" }
    await using strict = await Service.start({ flags, env: { PATH: scriptedAgentPath } })
    using session = await RawSession.open(`ws+unix://${strict.stateDir}/gateway.sock:/ws/mcp`)
    await session.call("agent.start", {})
    const refused = await session.refused("agent.start", { env_file: "variables" })
    expect(refused.data).toMatchObject({ reason: "SECURITY_DENIED", rule: "variable" })

    await using none = await Service.start({
      flags: { "allowed-commands": "true" },
      env: { PATH: scriptedAgentPath },
    })
    using other = await RawSession.open(`ws+unix://${none.stateDir}/gateway.sock:/ws/mcp`)
    const denied = await other.refused("agent.start", {})
    expect(denied.data).toMatchObject({ reason: "SECURITY_DENIED", rule: "program" })
  })
})
