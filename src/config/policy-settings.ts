import { settingsIn } from "./setting.ts"
import { absolutePath, orNone, type TextForm, textForm } from "./text-form.ts"

const user = textForm("<user>", "USER, USER:GROUP, UID or UID:GID", (text) =>
  /^[\w.@-]+(?::[\w.@-]+)?$/.test(text) && !text.startsWith("-") ? text : undefined,
)

const execution = settingsIn("Executions")

/** What may run, and as whom. */
export const policySettings = {
  allowedCommands: execution(allowedCommands(), {
    bareVariable: "ALLOWED_COMMANDS",
    defaultText: "any",
    example: "claude,git,/usr/bin/make",
    description: "The only programs that may run, by name or path; `any` allows all.",
  }),
  policyFile: execution(orNone(absolutePath()), {
    example: "/etc/cc-executor/policy.yaml",
    description: "A file that says what may run, how and where: see docs/policy.md.",
  }),
  runAs: execution(orNone(user), {
    example: "agent",
    description:
      "The user that commands run as, if the service is root; `none` is the service's own.",
  }),
}

/** The programs that may be executed; null is all of them. */
function allowedCommands(): TextForm<string[] | null> {
  const allowed = "any, or names and absolute paths of programs"
  const notation = "separated by commas; an empty list or `none` would be ambiguous"
  const read = (text: string) => {
    const word = text.toLowerCase()
    if (word === "any") return null
    // Whoever writes this may mean "no program" as well as "no list". Refusing is the one safe
    // reading: the other would open the service to everything.
    if (word === "none") return undefined
    const programs = text.split(",").map((program) => program.trim())
    return programs.every(isProgram) ? [...new Set(programs)] : undefined
  }
  return textForm("<programs>", allowed, read, notation)
}

function isProgram(program: string): boolean {
  if (program === "" || program.includes("\0")) return false
  return program.startsWith("/") || !program.includes("/")
}
