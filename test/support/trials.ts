import { createHash } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { SignedAttestation, Statement } from "../../src/execution/trial/attestation.ts"
import type { ParamsOf, ResultOf } from "../../src/protocol/methods.ts"
import type { RawSession } from "./raw-session.ts"

export type Begin = ParamsOf<"trial.begin">
type Steps = Begin["definition"]["steps"]

export function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex")
}

/** A directory with a work in it, whose act makes its check pass. */
export class TrialGround implements Disposable {
  readonly directory = mkdtempSync(join(tmpdir(), "cc-executor-trial-"))
  readonly name: string
  readonly work: Begin["work"]

  constructor(name = "T01_make_done") {
    this.name = name
    const path = join(this.directory, `${name}.md`)
    writeFileSync(path, "Make the file done.\n")
    this.work = { name, kind: "prompt", path }
  }

  get done(): string {
    return join(this.directory, "done")
  }

  /** Red, act, green: the check passes once the act has run. */
  steps(act = "touch done", check = "test -e done"): Steps {
    const cwd = this.directory
    return [
      { id: "red", role: "red", red: "base", cwd, run: check },
      { id: "act", role: "act", cwd, argv: ["sh", "-c", act] },
      { id: "green", role: "green", cwd, run: check },
    ]
  }

  request(steps: Steps = this.steps(), more: Partial<Begin> = {}): Begin {
    return { work: this.work, version: digestOf("v1"), definition: { steps }, ...more }
  }

  [Symbol.dispose](): void {
    rmSync(this.directory, { recursive: true, force: true })
  }
}

/** Starts a step and waits for its end. */
export async function runStep(
  session: RawSession,
  trial: string,
  step: string,
  more: Partial<ParamsOf<"execute">> = {},
) {
  const started = await session.call("execute", { trial, step, ...more })
  await session.heard("process.completed", started.execution_id)
  return started.execution_id
}

/** A whole trial, as a runner does it. */
export async function runTrial(
  session: RawSession,
  request: Begin,
  steps = request.definition.steps.map(({ id }) => id),
): Promise<ResultOf<"trial.end">> {
  const { trial } = await session.call("trial.begin", request)
  for (const step of steps) await runStep(session, trial, step)
  return session.call("trial.end", { trial })
}

export function statementOf({ payload }: SignedAttestation): Statement {
  return JSON.parse(Buffer.from(payload, "base64").toString("utf8"))
}
