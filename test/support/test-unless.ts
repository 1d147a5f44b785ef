import { test } from "bun:test"

/** A test that not every machine can run: where it cannot, its name says why it was skipped. */
export function testUnless(
  obstacle: string | null,
  behaviour: string,
  run: () => Promise<void>,
  timeoutMs = 60_000,
): void {
  if (obstacle === null) test(behaviour, run, timeoutMs)
  else test.skip(`${behaviour} (skipped: ${obstacle})`, run)
}

/** For tests that mount file systems or become another user. */
export const notRoot = process.getuid?.() === 0 ? null : "needs root"
