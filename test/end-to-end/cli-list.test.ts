import { afterAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { CommandLine } from "../cli/command-line.ts"
import { Terminal } from "../cli/terminal/terminal.ts"
import { cancelAll } from "../support/cancel-all.ts"
import { executable } from "../support/service.ts"

setDefaultTimeout(60_000)

const line = new CommandLine()
afterAll(() => line[Symbol.asyncDispose]())
beforeEach(() => cancelAll(line))

const size = { cols: 80, rows: 24 }
const env = { TERM: "xterm", NO_COLOR: "1" }
const onTerminal = (...argv: string[]) => new Terminal([executable, ...argv], line.env(env), size)
const short = (id: string) => id.slice(0, 8)
const row = (id: string, rest: string) => new RegExp(`${short(id)} +${rest}`)

describe("ps -i", () => {
  test("shows what runs, attaches, comes back, and puts the terminal back", async () => {
    const id = await line.stdout("run", "-d", "-t", "--", "cat")
    const script = "$PROGRAM ps -i; echo left with $?; stty -a"
    await using terminal = new Terminal(["sh", "-c", script], line.env(env), size)
    await terminal.untilShows(new RegExp(`> ${short(id)} +running .* cat`))

    terminal.type("\r")
    await terminal.untilShows(/.\[\?1049l/)
    terminal.type("hello\r")
    await terminal.untilShows(/\[1;1Hhello[\s\S]*\[2;1Hhello/)
    terminal.type("\x1d\x1d")
    await terminal.untilShows(/hello[\s\S]*detached[\s\S]*.\[\?1049h[\s\S]*q quit/)
    terminal.type("q")

    await terminal.untilShows(/left with 0\r\n/)
    expect(await terminal.exited).toBe(0)
    expect(terminal.screen).toMatch(/.\[\?7h.\[\?25h.\[\?1049l(?:(?!\?1049h)[\s\S])*$/)
    expect(terminal.screen).toMatch(/[^-]icanon/)
    expect(await line.stdout("ps", "-q", "--state", "running")).toBe(id)
  })

  test("pauses, resumes, and cancels only after a yes", async () => {
    const id = await line.stdout("run", "-d", "--", "sleep", "1000")
    await using terminal = onTerminal("top")
    await terminal.untilShows(row(id, "running"))

    terminal.type("p")
    await terminal.untilShows(row(id, "paused"))
    terminal.type("p")
    await terminal.untilShows(new RegExp(`${short(id)} resumed`))
    terminal.type("c")
    await terminal.untilShows(new RegExp(`Cancel ${short(id)}, sleep 1000\\? \\[y/N\\]`))
    terminal.type("n")
    expect(await line.stdout("ps", "-q")).toBe(id)
    terminal.type("cy")
    await terminal.untilShows(row(id, "ended .* canceled"))
    await terminal.untilShows(new RegExp(`${short(id)} canceled: 1 process ended by SIGTERM`))

    terminal.type("\x03")
    expect(await terminal.exited).toBe(0)
  })

  test("shows logs until a key is pressed, filters, adds what has ended, and fits", async () => {
    const words = ["one", "two"]
    for (const word of words) await line.run(["run", "--", "echo", `the-${word}`])
    await using terminal = onTerminal("ps", "--interactive")
    await terminal.untilShows(/nothing is running; a shows what has ended/)

    terminal.type("a")
    await terminal.untilShows(/ended .*echo the-one/)
    terminal.type("/the-one\r")
    await terminal.untilShows(/> \w+ +ended .*echo the-one/)
    terminal.type("l")
    await terminal.untilShows(/the-one\r\n[\s\S]*press any key to go back/)
    terminal.type(" ")
    await terminal.untilShows(/go back to the list[\s\S]*filter: the-one/)
    terminal.resize(70, 10)
    terminal.type("\x1b")
    await terminal.untilShows(/go back to the list[\s\S]*echo the-two/)

    terminal.type("q")
    expect(await terminal.exited).toBe(0)
  })

  test("says what is shown when one attaches, and how to come back", async () => {
    const id = await line.stdout("run", "-d", "--name", "quiet", "--", "sleep", "1000")
    await using terminal = onTerminal("ps", "-i")
    await terminal.untilShows(row(id, "running"))

    terminal.type("\r")
    await terminal.untilShows(new RegExp(`quiet \\(${short(id)}\\): sleep 1000`))
    await terminal.untilShows(/Ctrl-C goes back to the list/)
    terminal.type("\x03")
    await terminal.untilShows(/back to the list[\s\S]*.\[\?1049h[\s\S]*q quit/)

    terminal.type("q")
    expect(await terminal.exited).toBe(0)
  })

  test("gives the terminal back to the shell on Ctrl-Z, and takes it again", async () => {
    const id = await line.stdout("run", "-d", "--", "sleep", "1000")
    const shellEnv = line.env({ ...env, PS1: "ready> " })
    await using terminal = new Terminal(["bash", "--norc", "-i"], shellEnv, size)
    terminal.type("$PROGRAM ps -i\r")
    await terminal.untilShows(row(id, "running"))

    terminal.type("\x1a")
    await terminal.untilShows(/.\[\?1049l[\s\S]*Stopped/)
    terminal.type("stty -a; echo in the $((1 + 1))nd shell\r")
    await terminal.untilShows(/ icanon [\s\S]*in the 2nd shell/)
    terminal.type("fg\r")
    await terminal.untilShows(/2nd shell[\s\S]*.\[\?1049h[\s\S]*q quit/)

    terminal.type("q")
    await terminal.untilShows(/2nd shell[\s\S]*.\[\?1049h[\s\S]*.\[\?1049l[\s\S]*ready> $/)
    terminal.type("exit\r")
    expect(await terminal.exited).toBe(0)
  })

  test("is left in order when it is told to end", async () => {
    await using terminal = onTerminal("ps", "-i")
    await terminal.untilShows(/q quit/)

    process.kill(terminal.pid, "SIGTERM")

    expect(await terminal.exited).toBe(143)
    await terminal.untilShows(/.\[\?1049l$/)
  })

  test("is refused without a terminal, and for programs", async () => {
    const { exitCode, stdout, stderr } = await line.run(["ps", "-i"])

    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" })
    expect(stderr).toContain("--interactive needs a terminal. Use --watch to follow all changes.")
    expect((await line.run(["ps", "-i", "--json"])).exitCode).toBe(2)
  })
})

describe("ps --watch", () => {
  test("shows what was over before it could be looked at", async () => {
    await using terminal = onTerminal("ps", "--watch")
    await terminal.untilShows(/COMMAND/)

    await line.run(["run", "--", "sh", "-c", "exit 7"])

    await terminal.untilShows(/\w{8} +ended .* 7 .*exit 7/)
  })
})

describe("a terminal that is only watched", () => {
  const set = "printf '\\033[?1049h\\033[?1004hinside'; exec cat"

  test("is put back when it is left, and after the end", async () => {
    const id = await line.stdout("run", "-d", "-t", "--shell", set)
    await using watching = onTerminal("attach", "--observe", id)
    await watching.untilShows(/inside/)
    watching.type("\x03")

    expect(await watching.exited).toBe(130)
    await watching.untilShows(/.\[\?1004l[\s\S]*.\[\?1049l[\s\S]*detached; /)

    await line.run(["cancel", id])
    await using after = onTerminal("attach", id)
    expect(await after.exited).toBe(130)
    await after.untilShows(/inside[\s\S]*.\[\?1004l[\s\S]*.\[\?1049l/)
  })
})

describe("--detach-keys", () => {
  test("leave by the keys that were chosen, and by no others", async () => {
    const command = ["sh", "-c", "echo ready; exec cat -v"]
    await using terminal = onTerminal("run", "-t", "--detach-keys", "ctrl-x,q", "--", ...command)
    await terminal.untilShows(/ready\r\n/) // before that, what is typed is echoed here, too
    terminal.type("go\r")
    await terminal.untilShows(/go\r\ngo\r\n/)

    terminal.type("\x1d\x1dmore\r")
    await terminal.untilShows(/\^\]\^\]more\r\n\^\]\^\]more\r\n/)
    terminal.type("\x18q")

    expect(await terminal.exited).toBe(0)
    await terminal.untilShows(/detached; /)
  })
})

describe("cancel --all on a terminal", () => {
  test("lists, and asks before", async () => {
    const id = await line.stdout("run", "-d", "--", "sleep", "1000")
    await using first = onTerminal("cancel", "--all")
    await first.untilShows(/sleep 1000[\s\S]*Cancel this execution\? \[y\/N\] /)
    first.type("n\r")
    expect(await first.exited).toBe(1)
    expect(await line.stdout("ps", "-q")).toBe(id)

    await using second = onTerminal("cancel", "--all")
    await second.untilShows(/\[y\/N\] /)
    second.type("y\r")
    expect(await second.exited).toBe(0)
    expect(await line.stdout("ps", "-q")).toBe("")
  })
})

describe("stop with executions alive", () => {
  test("lists them and asks; no and Ctrl-D leave everything running", async () => {
    const id = await line.stdout("run", "-d", "--", "sleep", "1000")
    for (const answer of ["n\r", "\x04"]) {
      await using terminal = onTerminal("stop")
      await terminal.untilShows(
        /sleep 1000[\s\S]*Stop the service and end this execution\? \[y\/N\] /,
      )
      terminal.type(answer)
      expect(await terminal.exited).toBe(1)
    }
    expect(await line.stdout("ps", "-q")).toBe(id)

    await using yes = onTerminal("stop")
    await yes.untilShows(/\[y\/N\] /)
    yes.type("yes\r")
    expect(await yes.exited).toBe(0)
    await yes.untilShows(/The service \(pid \d+\) has ended\./)
    expect(await line.stdout("inspect", id)).toMatch(/^Ended +shutdown$/m)
  })

  test("does not ask with --yes", async () => {
    await line.stdout("run", "-d", "--", "sleep", "1000")
    await using terminal = onTerminal("stop", "--yes")

    expect(await terminal.exited).toBe(0)
    expect(terminal.screen).not.toContain("[y/N]")
  })
})
