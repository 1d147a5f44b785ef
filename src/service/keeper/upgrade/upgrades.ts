import type { Log } from "../../../lib/log.ts"
import { tryParseJson } from "../../../lib/parse-json.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { type HandedExecutions, handoverFormat, UpgradeCheck } from "../../../protocol/handover.ts"
import type { UpgradeReport, UpgradeRequest } from "../../../protocol/upgrade.ts"
import type { LiveTable } from "../live-table.ts"
import type { Clock } from "../ports.ts"
import { nextTurn, sleep } from "../sleep.ts"

/** What is being stopped may end by itself for so long; then it is handed over as it is. */
const restMs = 3000
/** What is being ended must have been, by then. */
const endMs = 10_000
/** Nobody reads what executions write for so long, at worst. */
const usualTakeOverMs = 30_000
const lookMs = 20
const shortTurns = 50

export type UpgradePorts = {
  clock: Clock
  log: Log
  live: Pick<LiveTable, "busy" | "release" | "handOver">
  holdStarts: (isHeld: boolean) => void
  takeRequest: () => UpgradeRequest
  report: (report: UpgradeReport) => void
  check(request: UpgradeRequest, isGivenUp: () => boolean): Promise<Result<UpgradeCheck, string>>
  /** Why nobody wants it any more; null when somebody does. */
  whyGivenUp(request: UpgradeRequest): string | null
  /** Why this is no time for it; null when it is. */
  blocker(): string | null
  /**
   * From now on the next program has so long to take over, else this one continues. Answers why
   * nobody watches over that, or null.
   */
  watch(limitMs: number): Promise<string | null>
  /** Clients are told to come again, and nothing more comes from them. */
  closeGateway(): Promise<void>
  /** Keeps signals that end the service for the next program; earlier ones are known by then. */
  holdEndSignals(): Promise<void>
  change(request: UpgradeRequest, executions: HandedExecutions): never
}

/** Hands the service over to another program, when it is asked to and everything allows it. */
export class Upgrades {
  readonly #ports: UpgradePorts
  #underWay: Promise<void> | null = null
  #isReady = false
  #isAsked = false

  constructor(ports: UpgradePorts) {
    this.#ports = ports
  }

  /** From now on there is a service to hand over. */
  ready(): void {
    this.#isReady = true
    if (this.#isAsked) this.begin()
  }

  /** While one is under way, another waits until that is refused, or for the next program. */
  begin(): void {
    this.#isAsked = true
    if (!this.#isReady || this.#underWay !== null) return
    this.#isAsked = false
    this.#underWay = this.#attempt().finally(() => {
      this.#underWay = null
      if (this.#isAsked) this.begin()
    })
  }

  /** Resolves when none is under way; never when one does what it is there for. */
  async settled(): Promise<void> {
    await this.#underWay
  }

  async #attempt(): Promise<void> {
    const { log, report, live } = this.#ports
    const request = this.#ports.takeRequest()
    const { upgrade } = request
    log.info({ program: request.program }, "upgrade requested")
    const ready = await this.#prepare(request).catch((error: unknown) => fail(String(error)))
    if (!ready.ok) {
      this.#ports.holdStarts(false)
      log.warn({ why: ready.failure }, "upgrade refused")
      report({ upgrade, phase: "refused", why: ready.failure })
      return
    }
    const unwatched = await this.#ports.watch(request.takeOverMs ?? usualTakeOverMs)
    if (unwatched !== null) log.warn({ why: unwatched }, "upgrade without a watchdog")
    report({ upgrade, phase: "handing-over" })
    log.info({ version: ready.value.version }, "service handing over")
    await this.#ports.closeGateway()
    while (live.busy("canBeReleased").length > 0) await this.#moment()
    await live.release()
    await this.#ports.holdEndSignals()
    for (let turns = 0; ; turns += 1) {
      const executions = live.handOver()
      // In the same turn of the event loop: a child that ends now is the next program's to see.
      if (executions !== null) this.#ports.change(request, executions)
      // Mostly a turn or two; but an end that waits for a full disk takes its time.
      await (turns < shortTurns ? nextTurn() : this.#moment())
    }
  }

  /** Everything that may still fail without any harm. */
  async #prepare(request: UpgradeRequest): Promise<Result<UpgradeCheck, string>> {
    const { report, live } = this.#ports
    const { upgrade } = request
    report({ upgrade, phase: "checking" })
    const whyGivenUp = () => this.#ports.whyGivenUp(request)
    const isGivenUp = () => whyGivenUp() !== null
    const checked = await this.#ports.check(request, isGivenUp)
    if (!checked.ok) return fail(whyGivenUp() ?? checked.failure)
    this.#ports.holdStarts(true)
    await this.#until(restMs, () => {
      const executions = live.busy("isAtRest")
      if (executions.length > 0) report({ upgrade, phase: "waiting", executions })
      return executions.length === 0 || isGivenUp()
    })
    await this.#until(endMs, () => live.busy("canBeReleased").length === 0 || isGivenUp())
    const why = whyGivenUp()
    if (why !== null) return fail(why)
    const stuck = live.busy("canBeReleased")
    if (stuck.length > 0) {
      return fail(`Execution ${stuck[0]} is starting or stopping. Try again later.`)
    }
    const blocker = this.#ports.blocker()
    return blocker === null ? ok(checked.value) : fail(blocker)
  }

  async #until(limitMs: number, isSo: () => boolean): Promise<void> {
    const deadlineMs = this.#ports.clock.monotonicMs() + limitMs
    while (!isSo() && this.#ports.clock.monotonicMs() < deadlineMs) await this.#moment()
  }

  #moment(): Promise<void> {
    return sleep(this.#ports.clock, lookMs, null)
  }
}

/** What a program is started with to be asked whether it could take over. */
const upgradeCheckArgument = "__upgrade-check"

/** Where nobody said how long it may take to take over: a signal asks for it. */
const answerMs = 15_000

/** Runs a program to its end, for its exit code and what it wrote; null when it takes too long. */
export type RunProgram = (
  argv: readonly string[],
  limitMs: number,
) => Promise<{ exitCode: number | null; text: string; said: string } | { failure: string } | null>

/** Whether a program can take this service over; else why not. */
export async function checkProgram(
  { program, takeOverMs = answerMs }: UpgradeRequest,
  own: Omit<UpgradeCheck, "handover">,
  run: RunProgram,
): Promise<Result<UpgradeCheck, string>> {
  const name = program.join(" ")
  const answer = await run([...program, upgradeCheckArgument], takeOverMs)
  if (answer === null) return fail(`${name} did not answer within ${takeOverMs / 1000} s.`)
  if ("failure" in answer) return fail(`${name} cannot be started: ${answer.failure}.`)
  const told = UpgradeCheck.safeParse(tryParseJson(answer.text))
  if (answer.exitCode !== 0 || !told.success) {
    const words = answer.said.trim().split("\n").at(-1)?.slice(0, 300) ?? ""
    const said = words === "" ? "" : ` It printed: ${words}`
    return fail(`${name} is not a cc-executor that can take over from ${own.version}.${said}`)
  }
  const { version, handover, state, journal } = told.data
  const it = `${name} (version ${version})`
  if (handover !== handoverFormat) {
    const forms = `it understands handover format ${handover}, but this one is ${handoverFormat}`
    return fail(`${it} cannot take over from ${own.version}: ${forms}. Stop and start instead.`)
  }
  if (state < own.state || journal < own.journal) {
    return fail(`${it} is older than the state directory, which was written by ${own.version}.`)
  }
  return ok(told.data)
}
