import { afterAll, afterEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { CommandLine } from "../cli/command-line.ts"
import { Terminal } from "../cli/terminal/terminal.ts"
import { cancelAll } from "../support/cancel-all.ts"
import { executable } from "../support/service.ts"
import { until } from "../support/until.ts"

setDefaultTimeout(60_000)

const shell = ["bash", "--norc", "--noprofile", "-i"]
const env = { TERM: "xterm", PS1: "ready> ", NO_COLOR: "1" }

/** Shared by all that leave its service as it was, and who all find nothing that runs there. */
const line = new CommandLine()
afterEach(() => cancelAll(line))
afterAll(() => line[Symbol.asyncDispose]())

describe("run -t", () => {
  test("gives the command a terminal of this one's size, also when that changes", async () => {
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

  test("leaves by Ctrl-] Ctrl-], and comes back", async () => {
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
    terminal.type("\x1d\x1d")

    const [, id = ""] = await terminal.untilShows(/cc-executor attach (\w+)/)
    await terminal.untilShows(/left with 0\r\n/)
    expect(await terminal.exited).toBe(0)
    expect(terminal.screen).toMatch(/[^-]icanon/)
    expect(terminal.screen).toMatch(/[^-]opost/)

    await using again = new Terminal([executable, "attach", id], line.env(env), size)
    await again.untilLooks(/^ready> sleep 1000\n\^C\nready>\s$/)
    again.type("exit 4\r")
    expect(await again.exited).toBe(4)
  })

  test("puts the terminal back when it is told to end", async () => {
    const script = `$PROGRAM run -t -- ${shell.join(" ")}; echo "left with $?"; stty -a`
    const size = { cols: 80, rows: 24 }
    await using terminal = new Terminal(["sh", "-c", script], line.env(env), size)
    await terminal.untilShows(/ready> $/)

    const { stdout } = await line.runOther(["pgrep", "-P", `${terminal.pid}`])
    process.kill(Number(stdout), "SIGTERM")

    await terminal.untilShows(/cc-executor cancel \w+\r\nleft with 143\r\n/)
    expect(await terminal.exited).toBe(0)
    expect(terminal.screen).toMatch(/[^-]icanon/)
  })
})

describe("several people at one terminal", () => {
  test("type, send and press keys, each heard in order, also when the gateway dies", async () => {
    await using own = new CommandLine()
    const size = { cols: 80, rows: 24 }
    await using first = new Terminal([executable, "run", "-t", "--", "cat"], own.env(env), size)
    first.type("one\r")
    await first.untilShows(/one\r\none\r\n/)
    const id = await own.stdout("ps", "-q")
    await using second = new Terminal([executable, "attach", id], own.env(env), size)
    await second.untilLooks(/one\none\n/)

    await own.stdout("send", id, "two")
    await first.untilShows(/two\r\ntwo\r\n/)
    second.type("three\r")
    await first.untilShows(/three\r\nthree\r\n/)
    process.kill(own.gatewayPid, "SIGKILL")
    first.type("four\r")
    await second.untilLooks(/four\nfour\n/)
    await own.stdout("send", "--key", "f,i,v,e,Enter", id)
    await second.untilLooks(/five\nfive\n/)
    first.type("six\r")
    await second.untilLooks(/six\nsix\n/)
    second.type("\x1d\x1d")
    expect(await second.exited).toBe(0)
    await own.stdout("send", "--key", "Ctrl-D", id)

    expect(await first.exited).toBe(0)
    const output = await own.stdout("logs", id)
    const words = ["one", "two", "three", "four", "five", "six"]
    expect(output.split(/\s+/)).toEqual(words.flatMap((word) => [word, word]))
  })

  test("are told when their keys are refused, and can leave", async () => {
    const argv = [executable, "run", "-t", "--shell", "cat; echo ended; exec sleep 1000"]
    await using terminal = new Terminal(argv, line.env(env), { cols: 80, rows: 24 })
    terminal.type("one\r")
    await terminal.untilShows(/one\r\none\r\n/)
    await line.stdout("send", "--end", await line.stdout("ps", "-q"))
    await terminal.untilShows(/ended/)

    terminal.type("two\r")
    await terminal.untilShows(/gets none of your keys: The child's standard input is closed\./)
    terminal.type("\x1d\x1d")

    expect(await terminal.exited).toBe(0)
  })

  test("send a line that a full-screen program takes for Enter", async () => {
    const keys = "stty raw; echo ready; head -c 3 | od -An -c"
    const id = await line.stdout("run", "-d", "-t", "--shell", keys)
    await until("it is ready", async () => /ready/.test(await line.stdout("logs", id)))

    await line.stdout("send", id, "hi")

    await line.stdout("wait", id)
    expect(await line.stdout("logs", id)).toContain("h   i  \\r")
  })
})

describe("a program that set modes of the terminal", () => {
  test("is left with all of them put back, and a word below its screen", async () => {
    const set = "printf 'before\\n\\033[?1049h\\033[?1004h\\033[?2031h\\033[>1uinside'; exec cat"
    const argv = [executable, "run", "-t", "--shell", set]
    await using terminal = new Terminal(argv, line.env(env), { cols: 80, rows: 24 })
    await terminal.untilShows(/inside/)

    terminal.type("\x1d\x1d")

    expect(await terminal.exited).toBe(0)
    const undone = "\x1b[?1004l\x1b[?2031l\x1b[<1u\x1b[?1049l\r\x1b[Jcc-executor: detached; "
    expect(terminal.screen).toContain(undone)
  })
})

describe("a table on a terminal", () => {
  test("is cut to its width and coloured, unless that is not wanted", async () => {
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
    await line.run(["run", "--", "true"])
    const size = { cols: 100, rows: 24 }
    const watch = [executable, "ps", "--watch"]
    await using terminal = new Terminal(watch, line.env(env), size)
    await terminal.untilShows(/COMMAND/)

    const id = await line.stdout("run", "-d", "--", "sleep", "1000")
    await terminal.untilShows(new RegExp(`${id.slice(0, 8)} +running.*sleep 1000`))
    await line.run(["pause", id])
    await terminal.untilShows(new RegExp(`${id.slice(0, 8)} +paused`))
    await line.run(["cancel", id])
    await terminal.untilShows(new RegExp(`${id.slice(0, 8)} +ended .* canceled .*sleep 1000`))
    const named = await line.stdout("run", "-d", "--name", "nightly", "--", "sleep", "1000")
    await terminal.untilShows(new RegExp(`${named.slice(0, 8)} +running.* nightly +sleep 1000`))

    terminal.type("\x03")
    expect(await terminal.exited).toBe(130)
  })
})
