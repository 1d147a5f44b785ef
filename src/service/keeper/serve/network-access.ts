import type { Config } from "../../../config/config.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { clearTextWarning, type Exposure, openNetworkProblem } from "../../access/open-network.ts"
import { readAcceptedTokens } from "../../access/tokens/accepted-tokens.ts"
import { makeOwnToken, readMadeToken } from "../../access/tokens/made-token.ts"
import { TokenBook } from "../../access/tokens/token-book.ts"
import { readTokenFile, type TokenFileFailure } from "../../access/tokens/token-file.ts"
import { tryLock } from "../../os/libc.ts"
import type { StateDirectory } from "../../storage/state-directory.ts"
import type { ServeOptions } from "./options.ts"
import { acceptedTokensOf } from "./settings.ts"
import { systemClock as clock } from "./system-clock.ts"

const lockLimitMs = 10_000

/**
 * Why the service must not listen where it should; null when it may. Makes a token where one is
 * missing, if it was told to, and warns of clear text.
 */
export async function prepareAccess(
  config: Config,
  state: StateDirectory,
  options: Pick<ServeOptions, "logger" | "say" | "env">,
): Promise<string | null> {
  const say = (text: string) => options.say(`cc-executor: ${text}`)
  const tokens = tokenBook(config, state, ({ message }) => say(message))
  const exposure = exposureOf(config, tokens)
  if (!exposure.ok) return exposure.failure
  const warning = clearTextWarning(exposure.value)
  if (warning !== null) say(warning)
  const problem = openNetworkProblem(exposure.value)
  if (!config.makeToken) return problem
  const show = showCommand(config, options.env)
  if (problem === null) {
    if (isMadeTokenGood(state, tokens)) say(`To show the token that this service made: ${show}`)
    return null
  }
  const lock = { tryLock, limitMs: lockLimitMs }
  const random = (bytes: Uint8Array<ArrayBuffer>) => crypto.getRandomValues(bytes)
  const made = await makeOwnToken(state.path, lock, clock.now(), random)
  if (!made.ok) return made.failure.message
  options.logger.info({ tokenId: made.value.id, showWith: show }, "token made")
  say(`There was no token, so this service made one. To show it: ${show}`)
  return null
}

/** Why a service with these settings could not begin anew; null when it could. Changes nothing. */
export function whyAccessCannotBePrepared(config: Config, state: StateDirectory): string | null {
  const exposure = exposureOf(
    config,
    tokenBook(config, state, () => undefined),
  )
  if (!exposure.ok) return exposure.failure
  const problem = openNetworkProblem(exposure.value)
  if (problem === null || !config.makeToken) return problem
  // To tokens that cannot be read, none can be added.
  const known = readTokenFile(state.paths.tokens)
  return known.ok ? null : known.failure.message
}

function tokenBook(
  config: Config,
  state: StateDirectory,
  tell: (failure: TokenFileFailure) => void,
): TokenBook {
  return new TokenBook(state.path, tell, acceptedTokensOf(config))
}

function exposureOf(config: Config, tokens: TokenBook): Result<Exposure, string> {
  const accepted = acceptedTokensOf(config)
  const read = accepted === null ? null : readAcceptedTokens(accepted)
  if (read?.ok === false) return fail(read.failure.message)
  return ok({
    hosts: config.port === null ? [] : config.hosts,
    hasTokens: tokens.hasUsable(clock.now()),
    asksForCertificates: config.tlsClientCa !== null,
    speaksTls: config.tlsCert !== null,
  })
}

function isMadeTokenGood(state: StateDirectory, tokens: TokenBook): boolean {
  const made = readMadeToken(state.path)
  return made.ok && made.value !== null && tokens.check(made.value, clock.now()).ok
}

/** As it is typed by whoever reads it, who need not be in the container, nor have our variables. */
function showCommand({ containerName, stateDir }: Config, env: ServeOptions["env"]): string {
  const isFound = env["CC_EXECUTOR_STATE_DIR"] === stateDir
  const command = `cc-executor token show${isFound ? "" : ` --state-dir ${stateDir}`}`
  return containerName === null ? command : `docker exec ${containerName} ${command}`
}
