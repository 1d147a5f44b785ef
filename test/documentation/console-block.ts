/** A command as it was typed, and the lines shown below it. */
export type ShownCommand = {
  command: string
  shown: string[]
  interrupted: boolean // `^C` was pressed after those lines
}

/** The commands of a `console` block. */
export function readConsole(text: string): ShownCommand[] {
  const commands: ShownCommand[] = []
  let goesOn = false
  for (const line of text.trimEnd().split("\n")) {
    const latest: ShownCommand | undefined = commands.at(-1)
    const continued: boolean = latest !== undefined && (goesOn || line.startsWith("> "))
    if (line.startsWith("$ ")) commands.push(typed(line.slice(2)))
    else if (latest === undefined) throw new Error(`output before any command: ${line}`)
    else if (continued) latest.command += `\n${line.replace(/^> /, "")}`
    else if (latest.interrupted) throw new Error(`output after ^C: ${line}`)
    else if (line === "^C") latest.interrupted = true
    else latest.shown.push(line)
    goesOn = line.endsWith("\\") && (line.startsWith("$ ") || continued)
  }
  return commands
}

function typed(command: string): ShownCommand {
  return { command, shown: [], interrupted: false }
}

/** The commands of a script in which each stands by itself, on a line or several. */
export function readScript(text: string): string[] {
  const whole = text.replaceAll("\\\n", "\\\u0000").trimEnd().split("\n")
  return whole
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .map((line) => line.replaceAll("\u0000", "\n"))
}
