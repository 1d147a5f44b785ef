import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto"
import { type SignedReceipt, signedBytes } from "../../src/execution/receipt.ts"
import type { Outcome } from "../../src/execution/state.ts"
import {
  Announcement,
  TrialDefinition,
  type TrialStep,
} from "../../src/execution/trial/announcement.ts"
import {
  type AttestedTrial,
  type SessionEnd,
  type SignedAttestation,
  type StepFacts,
  statementOf,
} from "../../src/execution/trial/attestation.ts"
import { judgeTrial } from "../../src/execution/trial/verdict.ts"
import { base32 } from "../../src/lib/base32.ts"
import { canonicalText } from "../../src/lib/canonical-text.ts"
import { lineOf } from "../../src/workflow/ledger/ledger-text.ts"
import { type LedgerSummary, summarize } from "../../src/workflow/ledger/summary.ts"
import type { LedgerContext, OpenTrial } from "../../src/workflow/ledger/verify-ledger.ts"
import { plainReceipt } from "./plain-receipt.ts"

/** A service that judges trials, as far as ledgers show it: the real keys, digests and verdicts. */

export type SigningKey = { keyid: string; privateKey: KeyObject; publicPem: string }

export function newKey(): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519")
  const keyid = sha256(publicKey.export({ type: "spki", format: "der" })).slice(0, 16)
  return { keyid, privateKey, publicPem: publicKey.export({ type: "spki", format: "pem" }) }
}

/** How a step came to its end: the exit of its command, or anything else that is no exit. */
export type End = number | Outcome | "not-run"

export type TrialOptions = {
  item?: string
  version?: string
  check?: string
  recovery?: readonly string[]
  /** By the id of the step; others do as they should. */
  ends?: Record<string, End>
  lost?: string
  session?: Partial<SessionEnd>
  reusesRed?: string
  at?: string
}

const anyKey = newKey()

export class SignedChain {
  readonly work: { name: string; kind: "prompt" | "tasks"; path: string }
  readonly trials: AttestedTrial[] = []
  readonly lines: string[] = []
  key: SigningKey
  /** What is only counted need not be signed, which takes time. */
  signs = true

  constructor(key: SigningKey = newKey(), work: Partial<SignedChain["work"]> = {}) {
    this.key = key
    this.work = { name: "T01", kind: "prompt", path: "/w/T01.md", ...work }
  }

  get text(): string {
    return this.lines.map((line) => `${line}\n`).join("")
  }

  get head() {
    const last = this.trials.at(-1)
    if (last === undefined) return null
    return { sequence: last.announcement.sequence, digest: last.announcement_digest }
  }

  /** What the ledger would show, had it been signed and verified. */
  get summary(): LedgerSummary {
    const trials = this.trials.map((trial, index) => ({ line: index + 1, trial }))
    return summarize({ trials, damages: [], notices: [], open: [], chain: null, head: this.head })
  }

  static unsigned(work: Partial<SignedChain["work"]> = {}): SignedChain {
    const chain = new SignedChain(anyKey, work)
    chain.signs = false
    return chain
  }

  context(more: Partial<LedgerContext> = {}, open: OpenTrial[] = []): LedgerContext {
    const { name, kind, path } = this.work
    const publicKeys = [this.key.publicPem]
    return {
      name,
      kind,
      paths: new Set([path]),
      publicKeys,
      journal: { head: this.head, open },
      ...more,
    }
  }

  /** Trials that all end like this. */
  addAll(count: number, options: TrialOptions = {}): this {
    for (let number = 0; number < count; number += 1) this.add(options)
    return this
  }

  add(options: TrialOptions = {}): AttestedTrial {
    const steps = stepsOf(options)
    const announcement = this.#announce(steps, options)
    const { digest, chain } = this.#placeOf(announcement)
    const facts = new Map<string, StepFacts>()
    const receipts = new Map<string, SignedReceipt>()
    for (const step of steps) {
      const outcome = endOf(step, options)
      if (outcome === null) continue
      const reused = step.role === "red" && step.reuses !== undefined
      const execution_id = reused ? (options.reusesRed ?? "") : executionOf(announcement, step)
      const session = step.role === "act" ? sessionOf(options) : null
      const marker = step.role === "act" ? null : "seen"
      facts.set(step.id, { execution_id, reused, outcome, marker, session })
      if (!this.signs) continue
      const receipt = reused
        ? this.#earlierReceipt(execution_id)
        : this.#receipt(execution_id, announcement, step, outcome, session)
      receipts.set(step.id, receipt)
    }
    const { verdict, reasons, steps: judged } = judgeTrial({ steps }, facts, options.lost ?? null)
    const trial: AttestedTrial = {
      v: 1,
      verdict,
      reasons,
      chain,
      announcement,
      announcement_digest: digest,
      steps: judged.map((step, index) => {
        const plan = steps[index]
        const fact = facts.get(step.id)
        return {
          ...step,
          ...(plan === undefined || plan.role === "act" ? {} : { run: plan.run }),
          ...(plan?.role === "red" ? { red: plan.red } : {}),
          execution_id: fact?.execution_id ?? null,
          reused: fact?.reused ?? false,
          marker: fact === undefined ? null : "MARKER_20261119_000000_x",
          marker_found: fact?.marker ?? null,
          session: fact?.session ?? null,
          receipt: receipts.get(step.id) ?? null,
        }
      }),
      judged_at: options.at ?? "2026-11-19T03:00:00.000Z",
      same_user: true,
      keyid: this.key.keyid,
    }
    this.trials.push(trial)
    if (this.signs) this.lines.push(lineOf(this.attest(trial)))
    return trial
  }

  /** Signs whatever it is given, as somebody could who has the key. */
  attest(trial: AttestedTrial): SignedAttestation {
    const texts = trial.announcement.definition.steps.flatMap((step) => {
      if (step.role === "act") return []
      const content = Buffer.from(step.run).toString("base64")
      return [{ name: step.id, digest: { sha256: sha256(step.run) }, content }]
    })
    return this.seal("application/vnd.in-toto+json", statementOf(trial, texts))
  }

  seal<Type extends string>(payloadType: Type, value: unknown) {
    const payload = Buffer.from(JSON.stringify(value))
    const sig = sign(null, signedBytes(payloadType, payload), this.key.privateKey)
    return {
      payloadType,
      payload: payload.toString("base64"),
      signatures: [{ keyid: this.key.keyid, sig: sig.toString("base64") }],
    }
  }

  #announce(steps: TrialStep[], { item, version = sha256("v1") }: TrialOptions): Announcement {
    const before = this.trials.at(-1)
    const sequence = this.trials.length + 1
    return Announcement.parse({
      v: 1,
      trial: idFrom(`${this.work.path} ${this.key.keyid} ${sequence}`),
      chain: before?.chain ?? null,
      sequence,
      previous: before?.announcement_digest ?? null,
      work: { ...this.work, ...(item === undefined ? {} : { item }) },
      version,
      definition: TrialDefinition.parse({ tree: "a".repeat(40), steps }),
      principal: "local",
      announced_at: "2026-11-19T02:59:00.000Z",
    })
  }

  #placeOf(announcement: Announcement): { digest: string; chain: string } {
    const digest = sha256(canonicalText(announcement))
    return { digest, chain: announcement.chain ?? digest }
  }

  #earlierReceipt(executionId: string): SignedReceipt {
    const steps = this.trials.flatMap((trial) => trial.steps)
    const receipt = steps.find((step) => step.execution_id === executionId)?.receipt
    if (!receipt) throw new Error(`Nothing ran as ${executionId}.`)
    return receipt
  }

  #receipt(
    execution_id: string,
    { trial: id }: Announcement,
    step: TrialStep,
    outcome: Outcome,
    session: SessionEnd | null,
  ): SignedReceipt {
    const argv =
      step.role === "act" ? (step.argv ?? ["claude"]) : ["bash", "-c", "…", "x", step.run]
    const receipt = {
      ...plainReceipt,
      execution_id,
      spec: {
        ...plainReceipt.spec,
        argv,
        cwd: step.cwd,
        ...(session === null ? {} : { agent: { agent: "claude" } }),
      },
      outcome,
      ...(session === null ? {} : { agent: agentOf(session) }),
      trial: { id, step: step.id, role: step.role },
    }
    return this.seal("application/vnd.cc-executor.receipt+json", receipt)
  }
}

function stepsOf(options: TrialOptions): TrialStep[] {
  const { check = "make test", recovery = [], session, reusesRed } = options
  const checks = [check, ...recovery].map((run, index) => ({ id: `${index + 1}`, run }))
  const act = session === undefined ? { argv: ["./work"] } : { session: announcedSession }
  const { steps } = TrialDefinition.parse({
    tree: "a".repeat(40),
    steps: [
      ...checks.map(({ id, run }) => {
        const reuses = id === "1" && reusesRed !== undefined ? { reuses: reusesRed } : {}
        return { id: `red-${id}`, role: "red", red: "base", run, cwd: "/base", ...reuses }
      }),
      { id: "act", role: "act", cwd: "/act", ...act },
      ...checks.map(({ id, run }) => ({ id: `green-${id}`, role: "green", run, cwd: "/act" })),
    ],
  })
  return steps
}

const announcedSession = { agent: "claude", prompt: "c".repeat(64) }

function endOf({ id, role }: TrialStep, { ends = {} }: TrialOptions): Outcome | null {
  const end = ends[id] ?? (role === "red" ? 1 : 0)
  if (end === "not-run") return null
  return typeof end === "number" ? { kind: "exited", exitCode: end } : end
}

function sessionOf({ session }: TrialOptions): SessionEnd | null {
  if (session === undefined) return null
  return { last_turn: "success", turns: 1, cost_usd: 0.25, end: null, ...session }
}

function agentOf({ turns, cost_usd, end, last_turn }: SessionEnd) {
  return {
    agent: "claude",
    agent_version: "2.1.326",
    session_id: "s",
    resumed_from: null,
    turns: { accepted: turns, ended: turns, waiting: 0, current: null, responses: turns },
    usage: {
      cost_usd,
      tokens: { input: 1, output: 1, cache_read: 0, cache_creation: 0 },
      by_model: {},
      context_tokens: null,
      context_window: null,
    },
    end: end === null ? null : { cause: end, message: end },
    last_turn: last_turn === null ? null : { outcome: last_turn },
  }
}

function executionOf({ trial }: Announcement, { id }: TrialStep): string {
  return idFrom(`${trial} ${id}`)
}

/** The same for the same seed. */
function idFrom(seed: string): string {
  return base32(createHash("sha256").update(seed).digest().subarray(0, 16)).padEnd(26, "a")
}

function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex")
}
