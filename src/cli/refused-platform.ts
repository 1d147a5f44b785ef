/** What needs nothing of the system, and helps where the rest does not run. */
const anywhere = ["help", "--help", "-h", "version", "--version", "-V", "completions"]

/** Why a command is not run on this system, and what to do; null when it is. */
export function refusedPlatform(platform: string, argv: readonly string[]): string | null {
  if (platform === "linux") return null
  const [command] = argv
  const asksForHelp = argv.includes("--help") || argv.includes("-h")
  if (command === undefined || anywhere.includes(command) || asksForHelp) return null
  const system = names[platform] ?? platform
  return (
    `This is ${system}, and cc-executor runs only on Linux: it relies on Linux features to track ` +
    "process trees, and has never been run anywhere else. Run it on a Linux machine, " +
    "in a Linux virtual machine, or in a container; on Windows, in WSL 2."
  )
}

const names: Readonly<Record<string, string>> = {
  darwin: "macOS",
  win32: "Windows",
  freebsd: "FreeBSD",
}
