import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { scriptedAgentPath } from "../support/agent-deeds.ts"
import { AgentStage } from "../support/agent-stage.ts"
import { filesWith } from "../support/files-with.ts"
import {
  isSigned,
  NotificationReceiver,
  type Received,
  TargetsFile,
} from "../support/notification-receiver.ts"
import { isRunning } from "../support/service.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { until } from "../support/until.ts"
import { upgraded } from "../support/upgraded.ts"

setDefaultTimeout(60_000)

// With a program in the place of Claude Code that asks, waits and spends as it is told to.

let receiver: NotificationReceiver
let targets: TargetsFile
let patterns: ReturnType<typeof temporaryFolder>
let stage: AgentStage

beforeAll(async () => {
  receiver = new NotificationReceiver()
  targets = new TargetsFile({
    hook: { kind: "webhook", url: receiver.url, used_by: "everybody" },
    curious: { kind: "webhook", url: `${receiver.url}/curious`, include: "[question]" },
  })
  patterns = temporaryFolder()
  writeFileSync(join(patterns.path, "patterns"), "planted-sk-\\w+\n")
  stage = await AgentStage.set(() => ({ say: "nothing" }), {
    variables: { PATH: scriptedAgentPath },
    flags: { ...targets.flags, "redact-file": join(patterns.path, "patterns") },
  })
})

afterAll(async () => {
  await stage[Symbol.asyncDispose]()
  patterns[Symbol.dispose]()
  targets[Symbol.dispose]()
  receiver[Symbol.dispose]()
})

function about(id: string): Received[] {
  return receiver.all.filter(({ body }) => body["execution_id"] === id)
}

async function whenTold(id: string, ...events: string[]): Promise<Received[]> {
  return until(`${id} tells ${events.join(", ")}`, () => {
    const found = about(id)
    return events.every((event) => found.some(({ body }) => body.event === event)) && found
  })
}

/** From then on nothing of it is sent again. */
async function whenOnRecord(id: string): Promise<void> {
  await until(`all about ${id} is on record`, async () => {
    const { deliveries } = await stage.client.call("notify.list", { execution_id: id })
    return deliveries.length > 0 && deliveries.every(({ state }) => state === "delivered")
  })
}

async function whenAsked(id: string): Promise<string> {
  const { questions } = await stage.whenStatus(id, "a question", (status) => {
    return status.questions.length === 1
  })
  return questions[0]?.question_id ?? ""
}

describe("a question of a session", () => {
  test("is told once, with a link, while a gateway dies and the program is upgraded", async () => {
    const id = await stage.start({ prompt: "ask", notify: ["hook"], labels: { name: "asks" } })
    const question = await whenAsked(id)
    const [told] = await whenTold(id, "question")
    await whenOnRecord(id)
    const { gatewayPid } = stage.service
    process.kill(gatewayPid, "SIGKILL")
    await until("the gateway is gone", () => !isRunning(gatewayPid))
    await upgraded(stage.service)
    await stage.whenStatus(id, "it is there", () => true)
    await stage.client.call("agent.answer", {
      execution_id: id,
      question_id: question,
      behavior: "allow",
    })
    await stage.client.call("agent.end", { execution_id: id })
    const all = await whenTold(id, "ended")

    expect(all.map(({ body }) => body.event)).toEqual(["question", "ended"])
    expect(all.every(isSigned)).toBe(true)
    expect(told?.body).toMatchObject({
      name: "asks",
      agent: "claude",
      link: `${await stage.service.url("/")}#/inbox/${id}-${question}`,
      question: { id: question, kind: "permission", tool: "Bash", open: true },
      command: expect.stringMatching(/^cc-executor agent answer \w{8} \w+ allow$/),
    })
    expect(told?.text).not.toContain('"true"') // the command that it wants to run
  })

  test("that is answered while its receiver is down is told as answered", async () => {
    await receiver.goDown()
    const id = await stage.start({ prompt: "ask", notify: ["hook"] })
    const question_id = await whenAsked(id)
    await until("it was tried", async () => {
      const { deliveries } = await stage.client.call("notify.list", { execution_id: id })
      return (deliveries[0]?.attempt_count ?? 0) > 0
    })
    await stage.client.call("agent.answer", { execution_id: id, question_id, behavior: "deny" })
    await stage.whenStatus(id, "it is answered", ({ questions }) => questions.length === 0)
    receiver.comeBack()
    const [told] = await whenTold(id, "question")

    expect(told?.body).toMatchObject({ question: { id: question_id, open: false } })
    expect(told?.body.text).toContain("answered meanwhile")
    expect(Number(told?.headers["x-cc-executor-attempt"])).toBeGreaterThan(1)
    await stage.client.call("agent.end", { execution_id: id })
  })

  test("is shown to targets that ask for it alone, without what patterns match", async () => {
    const notify = ["hook", "curious"]
    const id = await stage.start({ prompt: "ask with a secret", notify })
    await whenAsked(id)
    const all = await until("both are told", () => about(id).length === 2 && about(id))

    const plain = all.find(({ path }) => path === "/hook")
    const curious = all.find(({ path }) => path === "/hook/curious")
    expect(plain?.text).not.toContain("echo")
    expect(curious?.body).toMatchObject({
      question_details: { title: "with [redacted]", input: { command: "echo [redacted]" } },
    })
    // Nor does the journal have it, or anything else that is kept.
    expect(filesWith(stage.service.stateDir, "planted-sk-input")).toEqual([])
    await stage.client.call("control", { type: "CANCEL", execution_id: id })
  })
})

describe("a usage limit", () => {
  test("is told when it is reached, and when it is over", async () => {
    const id = await stage.start({ prompt: "limit", notify: ["hook"] })
    const told = await whenTold(id, "limit-reached", "limit-over")

    expect(told.map(({ body }) => body.event)).toEqual(["limit-reached", "limit-over"])
    expect(told[0]?.body).toMatchObject({ limit: { until: expect.stringMatching(/^20\d\d-/) } })
    await stage.client.call("agent.end", { execution_id: id })
  })
})

describe("a budget of which four fifths are gone", () => {
  test("is warned of once", async () => {
    const id = await stage.start({ prompt: "four answers", max_turns: 5, notify: ["hook"] })
    const [told] = await whenTold(id, "budget-warning")
    await stage.client.call("agent.send", { execution_id: id, text: "anything" })
    await stage.whenTurnEnded(id, 2)
    await stage.client.call("agent.end", { execution_id: id })
    const all = await whenTold(id, "ended")

    expect(told?.body).toMatchObject({ budget: { name: "turns", limit: 5, used: 4 } })
    expect(all.map(({ body }) => body.event)).toEqual(["budget-warning", "ended"])
  })
})

describe("a session whose keeper is killed while it asks", () => {
  test("is told as lost, and asks again in the execution that goes on", async () => {
    const id = await stage.start({ prompt: "ask", notify: ["hook"] })
    await whenAsked(id)
    await whenTold(id, "question")
    await whenOnRecord(id)
    await stage.crash()
    const next = await stage.whenRestarted(id)
    const [lost] = (await whenTold(id, "lost")).filter(({ body }) => body.event === "lost")
    await until("the next one is named, too", async () => {
      const { deliveries } = await stage.client.call("notify.list", { execution_id: next })
      const asked = await stage.status(next)
      return asked !== null && (asked.questions.length === 0 || deliveries.length > 0)
    })

    expect(lost?.body.name).toBeNull()
    expect(about(id).map(({ body }) => body.event)).toEqual(["question", "lost"])
    await stage.client.call("control", { type: "CANCEL", execution_id: next })
    await whenTold(next, "failed")
  })
})
