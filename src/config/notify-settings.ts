import { readCommand } from "../execution/read-command.ts"
import { settingsIn } from "./setting.ts"
import { absolutePath, duration, orNone, type TextForm, textForm } from "./text-form.ts"

const notification = settingsIn("Notifications")

/** Who is told of what happens, and how long that is tried. */
export const notifySettings = {
  notifyFile: notification(orNone(absolutePath()), {
    example: "/etc/cc-executor/notify.yaml",
    description:
      "A file of targets that are told of ends and questions: see docs/notifications.md.",
  }),
  notifyCommand: notification(orNone(words()), {
    example: "/usr/local/bin/tell-me",
    description:
      "A command that is told of everything, on its standard input; the policy must allow it.",
  }),
  notifyMaxAgeMs: notification(duration({ min: "1m", max: "30d" }), {
    defaultText: "1d",
    description: "Time that a message is tried again if its target does not take it.",
  }),
}

/** A program and its arguments; what only a shell would understand is refused. */
function words(): TextForm<string[]> {
  const allowed = "an absolute path of a program, with arguments, and no shell syntax"
  return textForm("<command>", allowed, (text) => {
    const read = readCommand(text)
    if (!read.ok || read.value.kind === "shell") return undefined
    return read.value.words[0]?.startsWith("/") === true ? read.value.words : undefined
  })
}
