import { copyFile, mkdir, mkdtemp, rm, symlink } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { root } from "../steps.ts"

export const columns = 92
const rows = 40

const follow = "-f"

/** What is typed, a line at a time; ID is the beginning of what the first one has printed. */
const commands = [
  "cc-executor run -d -- make -j8 test",
  `cc-executor logs ${follow} ID`,
  "cc-executor ps",
  "cc-executor pause ID",
  "cc-executor ps",
  "cc-executor resume ID",
  "cc-executor cancel ID",
  "cc-executor wait ID; echo $?", // a receipt is there only once the end is on record
  "cc-executor verify ID --contains 'All tests passed'",
]

/** A session of somebody at a real terminal (tmux), as the screen shows it, with its colours. */
export async function terminalSession(executable: string): Promise<string[]> {
  await using cleanup = new AsyncDisposableStack()
  const home = await mkdtemp(join(tmpdir(), "cc-executor-picture-"))
  cleanup.defer(() => rm(home, { recursive: true, force: true }))
  await mkdir(join(home, "bin"))
  await symlink(executable, join(home, "bin/cc-executor"))
  await copyFile(join(root, "test/documentation/fixtures/Makefile"), join(home, "Makefile"))

  const tmux = (...args: string[]) => run(["tmux", "-S", join(home, "tmux.sock"), ...args], home)
  const size = ["-x", String(columns), "-y", String(rows)]
  const shell = ["bash", "--norc", "--noprofile", "-i"]
  cleanup.defer(async () => void (await tmux("kill-server")))
  await tmux("-f", "/dev/null", "new-session", "-d", ...size, ...shell)
  cleanup.defer(async () => void (await run([executable, "stop", "--now"], home)))

  const screen = async (...how: string[]) => lines(await tmux("capture-pane", "-p", "-J", ...how))
  await untilPrompts(1, screen)
  for (const [index, command] of commands.entries()) {
    const id = (await screen())[1]?.slice(0, 3) ?? ""
    await tmux("send-keys", "-l", command.replace("ID", id))
    await tmux("send-keys", "Enter")
    if (command.includes(follow)) {
      await until("output", screen, (shown) => shown.at(-1) === "running 2 tests")
      await tmux("send-keys", "C-c")
    }
    await untilPrompts(index + 2, screen)
  }
  return (await screen("-e")).slice(0, -1)
}

/** A prompt stands alone in the last line when the command before it has ended. */
function untilPrompts(count: number, screen: Screen): Promise<void> {
  return until("a prompt", screen, (shown) => {
    const prompts = shown.filter((line) => /^\$(?: |$)/.test(line))
    return prompts.length === count && shown.at(-1)?.trim() === "$"
  })
}

type Screen = () => Promise<string[]>

async function until(
  what: string,
  screen: Screen,
  isThere: (shown: string[]) => boolean,
): Promise<void> {
  const deadlineMs = performance.now() + 20_000
  while (!isThere(await screen())) {
    if (performance.now() > deadlineMs) {
      throw new Error(`not within 20 s: ${what}\n${(await screen()).join("\n")}`)
    }
    await Bun.sleep(20)
  }
}

function lines(text: string): string[] {
  return text.trimEnd().split("\n")
}

async function run(command: string[], home: string): Promise<string> {
  const path = `${join(home, "bin")}:${process.env["PATH"] ?? ""}`
  const env = { HOME: home, PATH: path, PS1: "$ ", TERM: "xterm-256color", LANG: "C.UTF-8" }
  const child = Bun.spawn(command, { cwd: home, env, stdout: "pipe", stderr: "pipe" })
  const [text, complaint] = await Promise.all([child.stdout.text(), child.stderr.text()])
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")}: ${complaint}`)
  return text
}
