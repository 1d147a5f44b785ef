import bash from "./completion.bash" with { type: "text" }
import fish from "./completion.fish" with { type: "text" }
import zsh from "./completion.zsh" with { type: "text" }

export const shells = ["bash", "zsh", "fish"] as const
export type Shell = (typeof shells)[number]

/** What a shell loads: on TAB, each asks `cc-executor __complete` what may stand there. */
export const completionScripts: Readonly<Record<Shell, string>> = { bash, zsh, fish }
