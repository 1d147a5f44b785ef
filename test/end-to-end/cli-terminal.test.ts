import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { CommandLine } from "../cli/command-line.ts"
import { Terminal } from "../cli/terminal/terminal.ts"
import { executable } from "../support/service.ts"
import { until } from "../support/until.ts"

setDefaultTimeout(60_000)

const shell = ["bash", "--norc", "--noprofile", "-i"]
const env = { TERM: "xterm", PS1: "ready> ", NO_COLOR: "1" }

describe("run -t", () => {
  test("gives the command a terminal of this one's size, also when that changes", async () => {
    await using line = new CommandLine()
    await using terminal = new Terminal([executable, "run", "-t", "--", ...shell], line.env(env), {
      cols: 101,
      rows: 33,
    })
    await terminal.untilShows(/ready> $/)

    terminal.type("stty size; echo $TERM; tty\r")
    await terminal.untilShows(/33 101\r\nxterm\r\n\/dev\/pts\/\d+\r\n.*ready> $/)
    terminal.resize(90, 20)
    terminal.type("until [ \"$(stty size)\" = '20 90' ]; do sleep 0.02; done; echo re'sized'\r")
    await terminal.untilShows(/resized\r\n/)

    terminal.type("exit 6\r")
    expect(await terminal.exited).toBe(6)
  })

  test("sends Ctrl-C to the command, whatever it is", async () => {
    await using line = new CommandLine()
    const argv = [
      executable,
      "run",
      "-t",
      "--",
      "sh",
      "-c",
      "echo ready > /dev/tty; exec sleep 1000",
    ]
    await using terminal = new Terminal(argv, line.env(env), { cols: 80, rows: 24 })
    await terminal.untilShows(/ready/)

    terminal.type("\x03")

    expect(await terminal.exited).toBe(130)
  })

  test("leaves by Ctrl-P Ctrl-Q, and comes back", async () => {
    await using line = new CommandLine()
    const script = `$PROGRAM run -t -- ${shell.join(" ")}; echo "left with $?"; stty -a`
    const size = { cols: 80, rows: 24 }
    await using terminal = new Terminal(["sh", "-c", script], line.env(env), size)
    await terminal.untilShows(/ready> $/)

    terminal.type("sleep 1000\r")
    await terminal.untilShows(/sleep 1000\r\n/)
    await until(
      "it sleeps",
      async () => (await line.runOther(["pgrep", "-f", "^sleep 1000"])).stdout,
    )
    terminal.type("\x03")
    await terminal.untilShows(/\^C\r\n.*ready> $/)
    terminal.type("\x10\x11")

    const [, id = ""] = await terminal.untilShows(/cc-executor attach (\w+)/)
    await terminal.untilShows(/left with 0\r\n/)
    expect(await terminal.exited).toBe(0)
    expect(terminal.screen).toMatch(/[^-]icanon/)
    expect(terminal.screen).toMatch(/[^-]opost/)

    await using again = new Terminal([executable, "attach", id], line.env(env), size)
    await again.untilShows(/ready> .*ready> $/s)
    again.type("exit 4\r")
    expect(await again.exited).toBe(4)
  })

  test("puts the terminal back when it is told to end", async () => {
    await using line = new CommandLine()
    const script = `$PROGRAM run -t -- ${shell.join(" ")}; echo "left with $?"; stty -a`
    const size = { cols: 80, rows: 24 }
    await using terminal = new Terminal(["sh", "-c", script], line.env(env), size)
    await terminal.untilShows(/ready> $/)

    const { stdout } = await line.runOther(["pgrep", "-P", `${terminal.pid}`])
    process.kill(Number(stdout), "SIGTERM")

    await terminal.untilShows(/cc-executor attach \w+\r\nleft with 143\r\n/)
    expect(await terminal.exited).toBe(0)
    expect(terminal.screen).toMatch(/[^-]icanon/)
  })
})

describe("a table on a terminal", () => {
  test("is cut to its width and coloured, unless that is not wanted", async () => {
    await using line = new CommandLine()
    await line.run(["run", "--", "echo", "x".repeat(200)])
    const shown = async (more: Record<string, string>) => {
      const { NO_COLOR: _, CI: __, ...own } = line.env({ TERM: "xterm" })
      const size = { cols: 60, rows: 24 }
      await using terminal = new Terminal([executable, "ps", "-a"], { ...own, ...more }, size)
      await terminal.exited
      await terminal.untilShows(/…/)
      return terminal.screen
    }

    expect(await shown({})).toContain("\x1b[")
    const plain = await shown({ NO_COLOR: "1" })
    expect(plain).not.toContain("\x1b[")
    for (const row of plain.trimEnd().split("\r\n")) expect(row.length).toBeLessThanOrEqual(60)
  })

  test("stays up to date with --watch, until Ctrl-C", async () => {
    await using line = new CommandLine()
    await line.run(["run", "--", "true"])
    const size = { cols: 100, rows: 24 }
    const watch = [executable, "ps", "--watch"]
    await using terminal = new Terminal(watch, line.env(env), size)
    await terminal.untilShows(/COMMAND/)

    const id = await line.stdout("run", "-d", "--", "sleep", "1000")
    await terminal.untilShows(new RegExp(`${id.slice(0, 8)} +running.*sleep 1000`))
    await line.run(["pause", id])
    await terminal.untilShows(new RegExp(`${id.slice(0, 8)} +paused`))

    terminal.type("\x03")
    expect(await terminal.exited).toBe(130)
  })
})
