import { CallError } from "../../../client/client-error.ts"
import type { ParamsOf } from "../../../protocol/methods.ts"
import type { SuiteTest } from "../../suite/suite.ts"
import { judgeTest, notStarted, type TestResult } from "../../suite/test-result.ts"
import { wayOfRunning } from "../../suite/way-of-running.ts"
import { runSession, type SessionOptions } from "../trial/session-act.ts"
import { endOf, passInput } from "../trial/step-run.ts"
import type { World } from "../world.ts"
import { readTestEnd } from "./read-test-end.ts"

/** How the tests of a suite are run. */
export type TestOptions = {
  suite: string
  cwd: string
  /** Who is told what is asked in words: `claude`, or a command; null for what the file says. */
  agent: string | null
  /** Of tests that have none. */
  timeoutSeconds: number | null
  session: Pick<SessionOptions, "model" | "permission_mode">
  signal: AbortSignal
  /** A session asks, and waits for an answer. */
  asks: (question: AskedQuestion) => void
}

export type AskedQuestion = { execution_id: string; question_id: string; what: string }

/** Runs one test, and judges it by its record alone. */
export async function runTest(
  world: World,
  test: SuiteTest,
  options: TestOptions,
): Promise<TestResult> {
  let executionId: string | null = null
  try {
    await runAct(world, test, options, (id) => {
      executionId = id
    })
    if (executionId === null) return notStarted(test, "it was not started")
    return judgeTest(test, await readTestEnd(world, test, executionId))
  } catch (error) {
    // What could not be started, or is no longer kept, has failed, in words that say so.
    if (!(error instanceof CallError)) throw error
    return { ...notStarted(test, error.message), executionId }
  }
}

async function runAct(
  world: World,
  test: SuiteTest,
  { suite, cwd, agent, timeoutSeconds, session, signal, asks }: TestOptions,
  started: (id: string) => void,
): Promise<void> {
  const { client } = world
  const way = wayOfRunning(test.act, agent)
  const seconds = test.timeoutSeconds ?? timeoutSeconds
  const timeout = seconds === null ? {} : { timeout: seconds }
  const labels = { suite: suite.slice(0, 256), test: `${test.category}/${test.id}`.slice(0, 256) }
  if (way.kind === "session") {
    const options = {
      agent: "claude",
      permission_mode: "acceptEdits",
      ...session,
      ...timeout,
    } as const
    const toRun = { trial: null, cwd, prompt: way.request, labels, options }
    const told = { started, asks, costs: () => undefined }
    await runSession(client, toRun, signal, told)
    return
  }
  const request: ParamsOf<"execute"> = {
    ...(way.kind === "command"
      ? { command: way.command, stdin: "closed" }
      : { argv: ["bash", "-c", way.command], stdin: "pipe" }),
    ...timeout,
    ...(test.stallSeconds === null ? {} : { idle_timeout: test.stallSeconds }),
    cwd,
    labels,
    env: { ...(await ownEnvironment(world)), ...(way.kind === "command" ? way.variables : {}) },
    on_disconnect: "cancel",
  }
  const execution = await client.execute(request, { output: "ignore" })
  started(execution.id)
  const ended = endOf(execution, signal)
  if (way.kind === "agent") await passInput(execution, way.request)
  await ended
}

/** Where an allow-list rules, a request may set little: commands have the service's. */
async function ownEnvironment({ client, environment }: World): Promise<Record<string, string>> {
  const { policy } = await client.connected
  if (policy === "allow-list") return {}
  const given = Object.entries(environment)
  return Object.fromEntries(
    given.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}
