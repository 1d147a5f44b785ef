import { clientVariables } from "../../config/client-variables.ts"
import type { Context } from "../context.ts"
import { UsageFailure } from "../failure.ts"
import { contextNamed, localName, readContexts } from "./saved-contexts.ts"

type World = Pick<Context, "env" | "home">

/** The options by which a command is told of a service. */
type ServiceValues = {
  [Name in
    | "url"
    | "state-dir"
    | "context"
    | "token-file"
    | "ca-file"
    | "client-cert"
    | "client-key"]?: string | undefined
}

/** What decides which service a command uses, and for a context its name. */
export type Choice =
  | { by: "--url" | "--state-dir" | "CC_EXECUTOR_URL" | "CC_EXECUTOR_STATE_DIR" | "default" }
  | { by: "--context" | "CC_EXECUTOR_CONTEXT" | "context use"; name: string }

/**
 * An option comes before a variable, and what names a service before what names a context. The
 * variable with a state directory only comes before what `context use` has left.
 */
export function chosenService({ env, home }: World, values: ServiceValues): Choice {
  const given = (["url", "state-dir", "context"] as const).filter((name) => values[name])
  const [first, second] = given
  if (second !== undefined) {
    throw new UsageFailure(`--${first} and --${second} name two services: use only one.`)
  }
  if (first === "url") return { by: "--url" }
  if (first === "state-dir") return { by: "--state-dir" }
  if (values.context !== undefined) return { by: "--context", name: values.context }
  if ((env[clientVariables.url] ?? "") !== "") return { by: "CC_EXECUTOR_URL" }
  const named = env[clientVariables.context] ?? ""
  if (named !== "") return { by: "CC_EXECUTOR_CONTEXT", name: named }
  if ((env["CC_EXECUTOR_STATE_DIR"] ?? "") !== "") return { by: "CC_EXECUTOR_STATE_DIR" }
  const { current } = readContexts({ env, home })
  return current === null ? { by: "default" } : { by: "context use", name: current }
}

/** The remote context that a command uses; null where it uses none. */
export function usedContext(world: World, values: ServiceValues): string | null {
  const choice = chosenService(world, values)
  return "name" in choice && choice.name !== localName ? choice.name : null
}

/** The options as if those of the context had been given; what was given itself comes first. */
export function withContext(
  world: World,
  values: ServiceValues,
): { context: string | null; values: ServiceValues; isLocal: boolean } {
  const choice = chosenService(world, values)
  if (!("name" in choice)) {
    const isLocal = choice.by !== "--url" && choice.by !== "CC_EXECUTOR_URL"
    return { context: null, values, isLocal }
  }
  if (choice.name === localName) return { context: null, values, isLocal: true }
  const saved = contextNamed(world, choice.name)
  return {
    context: choice.name,
    isLocal: false,
    values: {
      url: saved.url,
      "token-file": values["token-file"] ?? saved.token_file,
      "ca-file": values["ca-file"] ?? saved.ca_file,
      "client-cert": values["client-cert"] ?? saved.client_cert,
      "client-key": values["client-key"] ?? saved.client_key,
    },
  }
}
