import type { z } from "zod"
import { executionMarker } from "../execution/id.ts"
import { fail, ok, type Result } from "../lib/result.ts"
import { suggest } from "../lib/suggest.ts"
import { isClientVariable } from "./client-variables.ts"
import { badValueText, whatIsAllowed } from "./setting.ts"
import { type Setting, Settings, settings, variablePrefix } from "./settings.ts"
import { defaultStateDir, expandHome } from "./state-dir.ts"

export type Config = z.infer<typeof Settings>

/** Something in the configuration that must be put right; `message` says all of it. */
export type ConfigProblem = {
  kind: "bad-value" | "missing-value" | "unknown-flag" | "unknown-variable" | "incomplete"
  /** The flag or variable, as it is written. */
  source: string
  message: string
}

export type ConfigSources = {
  /** By name without dashes; true for a flag that stands without a value. */
  flags: Readonly<Record<string, string | true>>
  env: Environment
  home: string
}

type Environment = Readonly<Record<string, string | undefined>>

/** A flag comes before its variable, that before the first generation's name, then the default. */
export function loadConfig(sources: ConfigSources): Result<Config, ConfigProblem[]> {
  const problems = unknownFlags(sources.flags)
  const texts: Record<string, string> = {}
  const origins = new Map<PropertyKey, Origin>()

  for (const setting of settings) {
    const origin = originOf(setting, sources)
    if (origin.text === true && !setting.flagAlone) {
      problems.push(missingValue(setting))
    }
    origins.set(setting.key, origin)
    texts[setting.key] = expandHome(origin.text === true ? "true" : origin.text, sources.home)
  }

  const read = Settings.safeParse(texts)
  for (const issue of read.error?.issues ?? []) {
    const origin = origins.get(issue.path[0] ?? "")
    if (origin !== undefined && origin.text !== true) problems.push(badValue(origin, origin.text))
  }
  if (read.data !== undefined) problems.push(...tlsProblems(read.data), ...fleetProblems(read.data))
  return read.data !== undefined && problems.length === 0 ? ok(read.data) : fail(problems)
}

/**
 * Everything that somebody has chosen, as flags: who is started with them needs no variables, and
 * no home to look for `~` in.
 */
export function chosenFlags(sources: ConfigSources): string[] {
  return settings.flatMap((setting) => {
    const { source, text } = originOf(setting, sources)
    if (source === defaultSource) return []
    return [`${setting.flag}=${expandHome(String(text), sources.home)}`]
  })
}

/** Settings of TLS that mean nothing without each other; what the files hold is looked at later. */
function tlsProblems({ tlsCert, tlsKey, tlsClientCa }: Config): ConfigProblem[] {
  const problems: ConfigProblem[] = []
  const add = (source: string, why: string) =>
    problems.push({ kind: "incomplete", source, message: `${source}: ${why}` })
  if (tlsCert !== null && tlsKey === null) {
    add("--tls-cert", "the key is missing: add --tls-key with the certificate's key")
  }
  if (tlsKey !== null && tlsCert === null) {
    add("--tls-key", "the certificate is missing: add --tls-cert with the key's certificate")
  }
  if (tlsClientCa !== null && tlsCert === null && tlsKey === null) {
    const why = "client certificates need TLS: add --tls-cert and --tls-key for the service"
    add("--tls-client-ca", why)
  }
  return problems
}

/** What a node must have: the other nodes are spoken to over mutual TLS only. */
function fleetProblems(config: Config): ConfigProblem[] {
  const { fleet, fleetUnsafe } = config
  const problems: ConfigProblem[] = []
  const add = (why: string) =>
    problems.push({ kind: "incomplete", source: "--fleet", message: `--fleet: ${why}` })
  if (fleet === null) return problems
  if (config.advertise === null) {
    add("the other nodes need an address of this one: add --advertise HOST:PORT")
  }
  if (config.fleetCa === null || config.fleetCert === null || config.fleetKey === null) {
    add("nodes know each other by certificates: add --fleet-ca, --fleet-cert and --fleet-key")
  }
  const isOpen = fleet.some((server) => server.startsWith("nats://") && !isOnLoopback(server))
  if (isOpen && !fleetUnsafe) {
    add("nats:// is not encrypted: use tls://, or add --fleet-unsafe to try it out")
  }
  return problems
}

function isOnLoopback(address: string): boolean {
  const host = URL.parse(address)?.hostname ?? ""
  return host === "localhost" || host === "[::1]" || host.startsWith("127.")
}

const defaultSource = "the default"

/** Where a setting's text came from; true where a flag stands without one. */
type Origin = { setting: Setting; source: string; text: string | true }

function originOf(setting: Setting, { flags, env }: ConfigSources): Origin {
  const flag = ownText(flags, setting.flag.slice(2))
  if (flag !== undefined) return { setting, source: setting.flag, text: flag }

  for (const source of [setting.variable, setting.bareVariable]) {
    const text = source === null ? undefined : ownText(env, source)
    if (source !== null && text !== undefined) return { setting, source, text }
  }
  return { setting, source: defaultSource, text: defaultText(setting, env) }
}

function ownText<Text>(from: Readonly<Record<string, Text>>, name: string): Text | undefined {
  return Object.hasOwn(from, name) ? from[name] : undefined
}

function defaultText(setting: Setting, env: Environment): string {
  return setting.key === "stateDir" ? defaultStateDir(env) : setting.defaultText
}

function missingValue(setting: Setting): ConfigProblem {
  const { flag } = setting
  const message = `${flag} needs a value; ${whatIsAllowed(setting, flag)}`
  return { kind: "missing-value", source: flag, message }
}

function badValue({ setting, source }: Origin, text: string): ConfigProblem {
  return { kind: "bad-value", source, message: badValueText(setting, source, text) }
}

function unknownFlags(flags: ConfigSources["flags"]): ConfigProblem[] {
  const known = settings.map((setting) => setting.flag)
  return Object.keys(flags).flatMap((name) => {
    const flag = `--${name}`
    return known.includes(flag) ? [] : [unknown("unknown-flag", flag, known)]
  })
}

/** Variables with our prefix that mean nothing: most likely misspelt, so worth a warning. */
export function configWarnings(env: Environment): ConfigProblem[] {
  const known = settings.map((setting) => setting.variable)
  const understood = new Set([...known, executionMarker]) // it is there inside of an execution
  return Object.keys(env)
    .filter((name) => name.startsWith(variablePrefix) && !understood.has(name))
    .filter((name) => !isClientVariable(name))
    .map((name) => unknown("unknown-variable", name, known))
}

function unknown(
  kind: "unknown-flag" | "unknown-variable",
  source: string,
  known: string[],
): ConfigProblem {
  const meant = suggest(source, known)
  const hint = meant === null ? "" : `; did you mean ${meant}?`
  const message = `${source} is not a setting${hint}`
  return { kind, source, message }
}
