#!/usr/bin/env bun
import { homedir } from "node:os"
import { version as sourceVersion } from "../package.json"

// Set by the build; running from source there are none.
declare const BUILD_VERSION: string | undefined
declare const BUILD_COMMIT: string | undefined

// While the main module is still awaited, Bun goes on after an error that nobody caught. A process
// in an unknown state must end instead: its owner starts it again.
for (const event of ["uncaughtException", "unhandledRejection"] as const) {
  process.on(event, (error: unknown) => {
    console.error(error)
    process.exit(70)
  })
}

process.exit(await main(process.argv.slice(2)))

/** Arguments to a command. What it needs is loaded then: the gateway has no use for the rest. */
async function main(argv: readonly string[]): Promise<number> {
  if (argv[0] === "__gateway") {
    const { serveGateway } = await import("./gateway/serve.ts")
    return serveGateway({ commit: typeof BUILD_COMMIT === "string" ? BUILD_COMMIT : "source" })
  }
  if (argv[0] === "__upgrade-check") {
    const { answerUpgradeCheck } = await import("./keeper/serve-upgrade-check.ts")
    return answerUpgradeCheck(version())
  }
  const { dispatch } = await import("./cli/dispatch.ts")
  const { systemContext } = await import("./cli/system-context.ts")
  const { env } = process
  const takeOver = await receivedTakeOver(env)
  const build = {
    version: version(),
    commit: typeof BUILD_COMMIT === "string" ? BUILD_COMMIT : "source",
  }
  const context = systemContext({
    env,
    home: env["HOME"] ?? homedir(),
    build,
    self: howToStartThis(),
    async serve(config, options) {
      const { serve } = await import("./keeper/serve.ts")
      const self = howToStartThis()
      const cwd = process.cwd()
      const own = { version: build.version, self, env, cwd, args: argv, takeOver }
      return serve(config, { ...options, ...own })
    },
    async decide(config, request) {
      const { decide } = await import("./keeper/decide.ts")
      return decide(config, request, { env, cwd: process.cwd() })
    },
    async examineFiles(config) {
      const { examineFiles } = await import("./keeper/serve-files.ts")
      return examineFiles(config)
    },
  })
  try {
    const exitCode = await dispatch(context, argv)
    takeOver?.goBackUnlessAccepted(env, `It ended at once, with exit code ${exitCode}.`)
    return exitCode
  } catch (error) {
    takeOver?.goBackUnlessAccepted(env, String(error))
    throw error
  }
}

/** What an upgrade leaves: children that another program has started in this very process. */
async function receivedTakeOver(env: NodeJS.ProcessEnv) {
  if (env["CC_EXECUTOR_TAKE_OVER"] === undefined) return null
  const { receiveTakeOver } = await import("./keeper/serve-take-over.ts")
  return receiveTakeOver(env)
}

function version(): string {
  return typeof BUILD_VERSION === "string" ? BUILD_VERSION : sourceVersion
}

/** A compiled program is its own runtime; else the runtime needs to be told what to run. */
function howToStartThis(): string[] {
  const isCompiled = Bun.main.startsWith("/$bunfs/")
  return isCompiled ? [process.execPath] : [process.execPath, Bun.main]
}
