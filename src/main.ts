#!/usr/bin/env bun
import { homedir } from "node:os"
import { version as sourceVersion } from "../package.json"
import { refusedPlatform } from "./cli/refused-platform.ts"
import { withoutRuntimeVariables } from "./cli/runtime-variables.ts"
import { harmless } from "./lib/harmless-text.ts"
import type { ServiceState } from "./service/os/notify-systemd.ts"

// Set by the build; running from source there are none.
declare const BUILD_VERSION: string | undefined
declare const BUILD_COMMIT: string | undefined
declare const BUILD_DATE: string | undefined

/** What an upgrade leaves: children that another program has started in this very process. */
let receivedHandover: Awaited<ReturnType<typeof readHandover>> = null

// While the main module is still awaited, Bun goes on after an error that nobody caught. A process
// in an unknown state must end instead: its owner starts it again.
for (const event of ["uncaughtException", "unhandledRejection"] as const) {
  process.on(event, (error: unknown) => {
    console.error(harmless(Bun.inspect(error))) // others may have had a hand in its words
    receivedHandover?.returnUnlessAccepted(process.env, String(error))
    process.exit(70)
  })
}

startAgainIfMoved()
receivedHandover = await readHandover(process.env)
process.exit(await main(process.argv.slice(2)))

/** Arguments to a command. What it needs is loaded then: the gateway has no use for the rest. */
async function main(argv: readonly string[]): Promise<number> {
  const refusal = refusedPlatform(process.platform, argv)
  if (refusal !== null) {
    console.error(harmless(`cc-executor: ${refusal}`))
    return 1
  }
  if (argv[0] === "__gateway") {
    const { serveGateway } = await import("./service/gateway/serve/serve.ts")
    return serveGateway({ commit: typeof BUILD_COMMIT === "string" ? BUILD_COMMIT : "source" })
  }
  if (argv[0] === "__screens") {
    const { runScreens } = await import("./service/screens/run-screens.ts")
    return runScreens(argv.slice(1))
  }
  if (argv[0] === "__agent-host") {
    const { runAgentHost } = await import("./agent/host/run-agent-host.ts")
    return runAgentHost()
  }
  if (argv[0] === "__worktree") {
    const { runWorktreeHelper } = await import("./worktree/run-worktree-helper.ts")
    return runWorktreeHelper(argv.slice(1))
  }
  if (argv[0] === "__upgrade-check") {
    const { answerUpgradeCheck } = await import("./service/keeper/serve/upgrade-check.ts")
    return answerUpgradeCheck(version())
  }
  if (argv[0] === "__upgrade-watchdog") {
    const { runUpgradeWatchdog } = await import("./service/keeper/serve/upgrade-watchdog.ts")
    return runUpgradeWatchdog(argv.slice(1))
  }
  const { dispatch } = await import("./cli/dispatch.ts")
  const { systemContext } = await import("./cli/system-context.ts")
  const { env } = process
  const build = {
    version: version(),
    commit: typeof BUILD_COMMIT === "string" ? BUILD_COMMIT : "source",
    built: typeof BUILD_DATE === "string" && BUILD_DATE !== "" ? BUILD_DATE : null,
  }
  const context = systemContext({
    env,
    home: env["HOME"] ?? homedir(),
    build,
    self: howToStartThis(),
    async serve(config, options) {
      const { serve } = await import("./service/keeper/serve/serve.ts")
      const { notifySystemd } = await import("./service/os/notify-systemd.ts")
      const self = howToStartThis()
      const cwd = process.cwd()
      const own = { version: build.version, self, env, cwd, args: argv, receivedHandover }
      const socket = env["NOTIFY_SOCKET"] ?? ""
      const tellManager = (state: ServiceState) => void notifySystemd(socket, state)
      return serve(config, { ...options, ...own, tellManager })
    },
    async decide(config, request) {
      const { checkPolicy } = await import("./service/keeper/serve/check-policy.ts")
      return checkPolicy(config, request, { env, cwd: process.cwd() })
    },
    async approvalRules(config) {
      const { approvalRules } = await import("./service/keeper/serve/check-policy.ts")
      return approvalRules(config, { env, cwd: process.cwd() })
    },
    async examineFiles(config) {
      const { examineFiles } = await import("./service/keeper/serve/check-policy.ts")
      return examineFiles(config)
    },
  })
  try {
    const exitCode = await dispatch(context, argv)
    receivedHandover?.returnUnlessAccepted(env, `It ended at once, with exit code ${exitCode}.`)
    return exitCode
  } catch (error) {
    receivedHandover?.returnUnlessAccepted(env, String(error))
    throw error
  }
}

async function readHandover(env: NodeJS.ProcessEnv) {
  if (env["CC_EXECUTOR_TAKE_OVER"] === undefined) return null
  const { receiveHandover } = await import("./service/keeper/serve/receive-handover.ts")
  return receiveHandover(env)
}

function version(): string {
  return typeof BUILD_VERSION === "string" ? BUILD_VERSION : sourceVersion
}

/**
 * A runtime that the environment has changed is left for one that it has not: the same process
 * becomes this program once more, without the variables that did it.
 */
function startAgainIfMoved(): void {
  if (!isCompiled()) return
  const env = withoutRuntimeVariables(process.env)
  if (env === null) return
  // Not by the path: the file may have been replaced since, and this one is still open.
  process.execve?.("/proc/self/exe", [process.argv0, ...process.argv.slice(2)], env)
}

/** A compiled program is its own runtime; else the runtime needs to be told what to run. */
function howToStartThis(): string[] {
  // After an upgrade that was taken back, the name of this file may be another's by now.
  const known = receivedHandover?.self ?? null
  if (known !== null) return known
  return isCompiled() ? [process.execPath] : [process.execPath, Bun.main]
}

function isCompiled(): boolean {
  return Bun.main.startsWith("/$bunfs/")
}
