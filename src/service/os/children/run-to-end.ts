import { randomBytes } from "node:crypto"
import { executionIdFrom, executionMarker } from "../../../execution/id.ts"
import type { RunAs } from "../../../execution/run-as.ts"
import { messageOf } from "../../../lib/errno.ts"
import { identify } from "../proc.ts"
import type { Reaper } from "../reaper.ts"
import { type Containment, endAtOnce } from "../trees/containment.ts"

export type RunEnd =
  | { exitCode: number | null; text: string; said: string }
  | { failure: string }
  | null

const lookMs = 50
const outputGraceMs = 2000
const noLimits = { memoryBytes: null, cpus: null, pids: null }

/**
 * Runs a program for its exit code and what it writes; null when it takes too long, or nobody wants
 * to know any more. Whatever it has started is ended with it, as an execution's processes are.
 */
export async function runToEnd(
  argv: readonly string[],
  env: Record<string, string | undefined>,
  { containment, reaper }: { containment: Containment; reaper: Reaper },
  limits: { limitMs: number; isGivenUp: () => boolean },
  user: RunAs | null = null,
): Promise<RunEnd> {
  const id = executionIdFrom(randomBytes(16))
  const enclosure = containment.enclose(id, noLimits)
  using started = new DisposableStack()
  started.defer(() => enclosure.remove())
  try {
    const child = Bun.spawn([...argv], {
      env: { ...env, [executionMarker]: id },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      detached: true,
      ...(user === null ? {} : { uid: user.uid, gid: user.gid }),
      ...(enclosure.cgroup === null ? {} : { cgroup: enclosure.cgroup }),
    })
    reaper.isMine(child.pid, child.exited)
    started.defer(() => endAtOnce(child.pid, enclosure))
    enclosure.enter(identify(child.pid))
    const outputs = Promise.all([child.stdout.text(), child.stderr.text()])
    outputs.catch(() => undefined)
    const deadlineMs = performance.now() + limits.limitMs
    while (child.exitCode === null && child.signalCode === null) {
      if (limits.isGivenUp() || performance.now() > deadlineMs) return null
      await Promise.race([child.exited, Bun.sleep(lookMs)])
    }
    // Whom it may have left behind could hold its output open for ever.
    endAtOnce(child.pid, enclosure)
    const late = Bun.sleep(outputGraceMs).then(() => ["", ""])
    const [text = "", said = ""] = await Promise.race([outputs, late])
    return { exitCode: child.exitCode, text, said }
  } catch (error) {
    return { failure: messageOf(error) }
  }
}
