/** Runs a program to its end, where it must go well. */
export async function must(command: string[]): Promise<void> {
  const child = Bun.spawn(command, { stdin: "ignore", stdout: "pipe", stderr: "pipe" })
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
  if ((await child.exited) === 0) return
  throw new Error(`${command.join(" ")} failed:\n${`${stdout}${stderr}`.slice(-2000)}`)
}
