import { expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"

const source = join(import.meta.dir, "../../src/service")

/**
 * Whatever such a callback throws ends the keeper, and with it every execution. So the keeper's
 * timers are those of its clock, which is guarded (`keeper/shortages.ts`); these files have their
 * own, and this is why none of them can meet an error that is to be expected.
 */
const reviewed: Record<string, string> = {
  "keeper/serve/policy-watch.ts": "SIGHUP: a shortage is logged, and the old rules stay",
  "keeper/serve/regular-work.ts": "what fails is logged, and done the next time",
  "keeper/serve/system-clock.ts": "is the clock that is guarded",
  "keeper/serve/upgrade.ts": "SIGUSR2: files that cannot be read or written are taken as none",
  "keeper/serve/watch-for-shutdown.ts": "only counts and resolves",
  "keeper/sleep.ts": "only resolves",
  "keeper/supervision/recorder.ts": "only resolves",
  "os/children/pipe-input.ts": "only resolves",
  "os/children/pipe-output.ts": "only resolves",
  "os/children/pseudo-terminal.ts": "only resolves and closes",
  "os/descriptor-reserve.ts": "of the gateway, which is started again",
  "os/own-descriptors.ts": "only forgets",
  "os/reaper.ts": "a shortage waits for the next look",
  "os/spawn-watchdog.ts": "only sends a signal to a child of our own",
  "os/trees/cgroup-tree.ts": "a shortage counts as a try, and it is tried again",
}

test("the keeper sets no timer whose failure would end it", async () => {
  const folders = new Bun.Glob("{keeper,os,storage,audit}/**/*.ts")
  const found: string[] = []
  for await (const file of folders.scan(source)) {
    const text = readFileSync(join(source, file), "utf8")
    const isRaw = /\b(?:setTimeout|setInterval|setImmediate|process\.on)\(/.test(text)
    // Those of `node:timers/promises` reject, and whoever awaits them is told.
    if (isRaw && !text.includes("node:timers/promises")) found.push(file)
  }

  expect(found.toSorted()).toEqual(Object.keys(reviewed).toSorted())
})
