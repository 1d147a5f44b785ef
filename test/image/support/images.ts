import { makeBaseImages } from "./base-images.ts"
import { Engine } from "./engine.ts"
import { startOwnEngine } from "./own-engine.ts"
import { usesOwnEngine } from "./switch.ts"

export type Images = {
  engine: Engine
  /** Names of what was built from the Dockerfile as it is. */
  runtime: string
  agent: string
}

const runtime = "cc-executor"
const agent = "cc-executor-agent"
const agentToo = "cc-executor/claude-code-docker:latest"

const stack = new AsyncDisposableStack()
let made: Promise<Images> | null = null

/** Built once for all files of tests: whoever asks first waits for it. */
export function images(): Promise<Images> {
  made ??= make()
  return made
}

async function make(): Promise<Images> {
  const engine = usesOwnEngine ? await startOwnEngine(stack) : new Engine({})
  if (usesOwnEngine) await makeBaseImages(engine)
  await engine.docker("build", "--tag", runtime, ".")
  await engine.docker("build", "--tag", agent, "--tag", agentToo, "--target", "agent", ".")
  return { engine, runtime, agent }
}

/** Ends the engine, if there is one of our own. */
export async function endImages(): Promise<void> {
  await stack.disposeAsync()
}
