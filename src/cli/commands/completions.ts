import { command } from "../command.ts"
import bash from "../completion/completion.bash" with { type: "text" }
import fish from "../completion/completion.fish" with { type: "text" }
import zsh from "../completion/completion.zsh" with { type: "text" }
import { UsageFailure } from "../failure.ts"

/** What a shell loads: on TAB, each asks `cc-executor __complete` what may stand there. */
const scripts = { bash, zsh, fish } as const
export const shells = ["bash", "zsh", "fish"] as const

export const completionsCommand = command({
  usage: ["completions SHELL"],
  about: `\
SHELL is bash, zsh or fish. Execution ids are completed from the running service; completion
never starts one.`,
  options: {},
  examples: {
    "bash, from the next shell on":
      "cc-executor completions bash > ~/.local/share/bash-completion/completions/cc-executor",
    "zsh, where ~/.zfunc is in $fpath before compinit":
      "cc-executor completions zsh > ~/.zfunc/_cc-executor",
    fish: "cc-executor completions fish > ~/.config/fish/completions/cc-executor.fish",
  },
  operands: { atLeast: 1, atMost: 1, what: "The shell (bash, zsh or fish)" },
  async run(context, { operands: [name = ""] }) {
    const shell = shells.find((known) => known === name)
    if (shell === undefined) {
      throw new UsageFailure(`There are no completions for ${name}: use ${shells.join(", ")}.`)
    }
    await context.stdout.write(scripts[shell])
    return 0
  },
})
