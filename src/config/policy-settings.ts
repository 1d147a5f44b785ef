import { allowedCommands } from "./allowed-commands.ts"
import { setting } from "./setting.ts"
import { absolutePath, orNone, textForm } from "./text-form.ts"

const user = textForm("<user>", "USER, USER:GROUP, UID or UID:GID", (text) =>
  /^[\w.@-]+(?::[\w.@-]+)?$/.test(text) && !text.startsWith("-") ? text : undefined,
)

/** What may run, and as whom. */
export const policySettings = {
  allowedCommands: setting(allowedCommands(), {
    group: "Executions",
    flag: "allowed-commands",
    bareVariable: "ALLOWED_COMMANDS",
    defaultText: "any",
    example: "claude,git,/usr/bin/make",
    description: "The only programs that may be executed, by name or path; `any` is all.",
  }),
  policyFile: setting(orNone(absolutePath()), {
    group: "Executions",
    flag: "policy-file",
    defaultText: "none",
    example: "/etc/cc-executor/policy.yaml",
    description: "A file that says what may run, how and where: see docs/policy.md.",
  }),
  runAs: setting(orNone(user), {
    group: "Executions",
    flag: "run-as",
    defaultText: "none",
    example: "agent",
    description: "The user that children run as, where the service is root; `none` is its own.",
  }),
}
