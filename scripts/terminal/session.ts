import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

export const columns = 120
const rows = 70

const prompt = "The test fails. Find out why, and fix it."

/** What the picture needs of the world: Claude Code, and something in the place of its model. */
export type Surroundings = {
  claudeFolder: string
  apiUrl: string
  /** Told where the session is to work. */
  inProject(project: string): void
}

/** A session of somebody at a real terminal (tmux), as the screen shows it, with its colours. */
export async function terminalSession(
  executable: string,
  surroundings: Surroundings,
): Promise<string[]> {
  await using cleanup = new AsyncDisposableStack()
  const home = await mkdtemp(join(tmpdir(), "cc-executor-picture-"))
  cleanup.defer(() => rm(home, { recursive: true, force: true }))
  const project = join(home, "project")
  await mkdir(join(home, "bin"))
  await mkdir(project)
  await symlink(executable, join(home, "bin/cc-executor"))
  await writeFile(join(project, "sum.sh"), "echo $(($1 + $2 + 1))\n")
  await writeFile(join(project, "test.sh"), checks)

  surroundings.inProject(project)
  const env = environment(home, surroundings)
  const tmux = (...args: string[]) =>
    run(["tmux", "-S", join(home, "tmux.sock"), ...args], project, env)
  const size = ["-x", String(columns), "-y", String(rows)]
  const shell = ["bash", "--norc", "--noprofile", "-i"]
  cleanup.defer(async () => void (await tmux("kill-server")))
  await tmux("-f", "/dev/null", "new-session", "-d", ...size, ...shell)
  cleanup.defer(async () => void (await run([executable, "stop", "--now"], project, env)))

  const screen = async (...how: string[]) => lines(await tmux("capture-pane", "-p", "-J", ...how))
  const type = async (command: string) => {
    await tmux("send-keys", "-l", command)
    await tmux("send-keys", "Enter")
  }
  await untilPrompts(1, screen)
  await type(`cc-executor claude "${prompt}"`)
  for (const question of ["q1", "q2", "q3"]) {
    await until(question, screen, (shown) => shown.some((line) => line.startsWith(`${question} A`)))
    await until(`${question} allowed`, screen, async (shown) => {
      const isAllowed = shown.some((line) => line.includes(`${question} allowed`))
      // A question takes no key in the moment in which it appears.
      if (!isAllowed) await tmux("send-keys", "y")
      return isAllowed
    })
  }
  await until("the end of the turn", screen, (shown) =>
    shown.some((line) => line.startsWith("── idle")),
  )
  // What was pressed too often is no turn.
  await tmux("send-keys", "C-u")
  await tmux("send-keys", "C-d")
  await untilPrompts(2, screen)
  const id = /agent attach (\w{8})/.exec((await screen()).join(" "))?.[1] ?? ""
  // Its status follows its events, a moment later.
  const list = async () => lines(await run([executable, "ps"], project, env))
  await until("the status", list, (listed) => listed.some((line) => / idle /.test(line)))
  await type("cc-executor ps")
  await untilPrompts(3, screen)
  await type(`cc-executor verify ${id.slice(0, 3)} --executed "ok: 2 + 3 = 5"`)
  await untilPrompts(4, screen)
  const shown = (await screen("-e")).slice(0, -1)
  return shown.map((line) => line.replaceAll(home, "/home/you"))
}

const checks = `sum=$(sh sum.sh 2 3)
[ "$sum" = 5 ] || { echo "failed: 2 + 3 = $sum"; exit 1; }
echo "ok: 2 + 3 = $sum"
`

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
  isThere: (shown: string[]) => boolean | Promise<boolean>,
): Promise<void> {
  const deadlineMs = performance.now() + 60_000
  while (!(await isThere(await screen()))) {
    if (performance.now() > deadlineMs) {
      throw new Error(`not within 60 s: ${what}\n${(await screen()).join("\n")}`)
    }
    await Bun.sleep(100)
  }
}

function lines(text: string): string[] {
  return text.trimEnd().split("\n")
}

function environment(home: string, { claudeFolder, apiUrl }: Surroundings) {
  return {
    HOME: home,
    PATH: `${join(home, "bin")}:${claudeFolder}:${process.env["PATH"] ?? ""}`,
    PS1: "$ ",
    TERM: "xterm-256color",
    LANG: "C.UTF-8",
    SHELL: "/bin/bash",
    CLAUDE_CODE_TMPDIR: home,
    ANTHROPIC_BASE_URL: apiUrl,
    ANTHROPIC_API_KEY: "none",
    DISABLE_TELEMETRY: "1",
    DISABLE_AUTOUPDATER: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  }
}

async function run(command: string[], cwd: string, env: Record<string, string>): Promise<string> {
  const child = Bun.spawn(command, { cwd, env, stdout: "pipe", stderr: "pipe" })
  const [text, complaint] = await Promise.all([child.stdout.text(), child.stderr.text()])
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")}: ${complaint}`)
  return text
}
