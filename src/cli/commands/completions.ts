import { command } from "../command.ts"
import { completionScripts, shells } from "../completion/shells.ts"
import { UsageFailure } from "../failure.ts"

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
    await context.stdout.write(completionScripts[shell])
    return 0
  },
})
