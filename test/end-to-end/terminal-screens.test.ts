import { afterAll, afterEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { join } from "node:path"
import { CommandLine } from "../cli/command-line.ts"
import { Terminal } from "../cli/terminal/terminal.ts"
import { cancelAll } from "../support/cancel-all.ts"
import { executable } from "../support/service.ts"
import { until } from "../support/until.ts"

setDefaultTimeout(60_000)

const env = { TERM: "xterm", PS1: "ready> ", NO_COLOR: "1" }
const size = { cols: 80, rows: 24 }
const asking = join(import.meta.dir, "../fixtures/ask-terminal.py")

const line = new CommandLine()
afterEach(() => cancelAll(line))
afterAll(() => line[Symbol.asyncDispose]())

function attached(id: string, own = size, ...more: string[]): Terminal {
  return new Terminal([executable, "attach", ...more, id], line.env(env), own)
}

async function logsOf(id: string): Promise<string> {
  return (await line.run(["logs", id])).stdout
}

async function untilLogged(id: string, pattern: RegExp): Promise<void> {
  await until(`${pattern} in the logs`, async () => pattern.test(await logsOf(id)))
}

describe("queries of a program", () => {
  test.each([0, 1, 3])("are answered once with %d terminals attached", async (count) => {
    const id = await line.stdout("run", "-d", "-t", "--", "python3", asking, "40", "2")
    await using stack = new AsyncDisposableStack()
    const terminals = Array.from({ length: count }, () => stack.use(attached(id)))
    for (const terminal of terminals) await terminal.untilLooks(/round 0: 40 40 40/)

    await untilLogged(id, /round 0: 40 40 40/)
    await line.stdout("send", "-n", id, "g")
    await untilLogged(id, /round 1: 40 40 40/)
  })

  test("are not asked again by what is shown to those who come back", async () => {
    const script = 'printf "q\\033[6n"; exec cat -v'
    await using first = new Terminal(
      [executable, "run", "-t", "--", "bash", "-c", script],
      line.env(env),
      size,
    )
    await first.untilLooks(/q\^\[\[1;2R/)
    const id = await line.stdout("ps", "-q")
    first.type("\x1d\x1d")
    expect(await first.exited).toBe(0)
    for (let time = 0; time < 2; time += 1) {
      await using again = attached(id)
      await again.untilLooks(/q\^\[\[1;2R/)
      again.type("\x1d\x1d")
      expect(await again.exited).toBe(0)
    }

    await line.stdout("send", id, "end")
    await untilLogged(id, /end\r\n.*end\r\n/s)

    // The terminal echoes it, and then `cat` shows the line it began.
    expect((await logsOf(id)).match(/\[1;2R/g)).toHaveLength(2)
  })

  test("are answered once when the gateway dies", async () => {
    const id = await line.stdout("run", "-d", "-t", "--", "python3", asking, "40", "3")
    await untilLogged(id, /round 0: 40 40 40/)

    for (const round of [1, 2]) {
      process.kill(line.gatewayPid, "SIGKILL")
      await line.stdout("send", "-n", id, "g")
      await untilLogged(id, new RegExp(`round ${round}: 40 40 40`))
    }
  })
})

describe("a terminal that is attached", () => {
  test("shows the screen at once, and brings back what was there before", async () => {
    const script = 'seq 1 100; printf "\\033[?1049h\\033[3;5Hin the \\033[7mmiddle"; exec cat'
    const id = await line.stdout("run", "-d", "-t", "--shell", script)
    await untilLogged(id, /middle/)
    const shell = `echo above; $PROGRAM attach ${id}; echo "left with $?"`
    await using terminal = new Terminal(["sh", "-c", shell], line.env(env), size)
    await terminal.untilLooks(/^\n\n {4}in the middle/)

    terminal.type("\x1d\x1d")
    await terminal.untilLooks(/left with 0/)

    expect(terminal.looks).toMatch(/^above\ncc-executor: detached; /)
    expect(terminal.looks).not.toContain("middle")
  })

  test("keeps its last lines when the program ends", async () => {
    const id = await line.stdout(
      "run",
      "-d",
      "-t",
      "--shell",
      "echo asked; read go; echo done; exit 3",
    )
    await untilLogged(id, /asked/)
    await using terminal = attached(id)
    await terminal.untilLooks(/asked/)

    terminal.type("go\r")

    expect(await terminal.exited).toBe(3)
    expect(terminal.looks).toBe("asked\ngo\ndone")
  })

  test("prints the lines above the screen where they are asked for", async () => {
    const id = await line.stdout("run", "-d", "-t", "--shell", "seq 1 100; exec cat")
    await untilLogged(id, /100/)
    await using terminal = attached(id, size, "--scrollback", "5")
    await terminal.untilLooks(/100/)

    terminal.type("\x1d\x1d")
    expect(await terminal.exited).toBe(0)

    expect(terminal.looks).toMatch(/^73\n74\n75\n76\n77\ncc-executor: detached/)
  })

  test("is right after the gateway died, and goes on without a gap", async () => {
    const script = 'stty -echo; while read word; do echo "<$word>"; done'
    const id = await line.stdout("run", "-d", "-t", "--shell", script)
    await using one = attached(id)
    await using other = attached(id)
    one.type("one\r")
    await one.untilLooks(/^<one>/)

    for (const word of ["two", "three", "four"]) {
      process.kill(line.gatewayPid, "SIGKILL")
      one.type(`${word}\r`)
      await other.untilLooks(new RegExp(`<${word}>`))
    }

    await one.untilLooks(/^<one>\n<two>\n<three>\n<four>\s*$/)
    await other.untilLooks(/^<one>\n<two>\n<three>\n<four>\s*$/)
  })
})

describe("the process that keeps screens", () => {
  async function screensPids(): Promise<number[]> {
    const { stdout } = await line.runOther(["pgrep", "-P", `${line.gatewayPid}`, "-f", "__screens"])
    return stdout.trim().split("\n").filter(Boolean).map(Number)
  }

  test("is replaced when it dies, and the screen and the answers are right", async () => {
    const id = await line.stdout("run", "-d", "-t", "--", "python3", asking, "10", "2")
    await untilLogged(id, /round 0: 10 10 10/)
    const [before = 0, ...others] = await screensPids()
    expect(others).toEqual([])

    process.kill(before, "SIGKILL")
    await line.stdout("send", "-n", id, "g")
    await untilLogged(id, /round 1: 10 10 10/)

    const { stdout } = await line.run(["logs", "--screen", id])
    expect(stdout).toMatch(/round 0: 10 10 10\n.*round 1: 10 10 10\n$/s)
    expect(await screensPids()).not.toContain(before)
  })

  test("outlives what would cost an emulator gigabytes", async () => {
    const counts = "@ L M P S T X Z I b".split(" ").map((final) => `a\\033[2147483647${final}`)
    const script = `printf '${counts.join("")}\\033[H\\033[2Jafter'; exec sleep 1000`
    const id = await line.stdout("run", "-d", "-t", "--shell", script)
    await untilLogged(id, /after/)

    expect((await line.run(["logs", "--screen", id])).stdout).toBe("after\n")
  })
})

describe("the size of a terminal", () => {
  const script = "stty -echo; while read _; do stty size; done"

  test("is what fits on all who type; others see a frame", async () => {
    const id = await line.stdout("run", "-d", "-t", "--shell", script)
    await using large = attached(id, { cols: 100, rows: 30 })
    large.type("\r")
    await large.untilLooks(/30 100/)
    {
      await using small = attached(id, { cols: 60, rows: 20 })
      await large.untilLooks(/│\n─ 60×20, the size of a smaller terminal/)
      small.type("\r")
      await small.untilLooks(/20 60/)
      await large.untilLooks(/20 60 *│/)
      // One who only watches decides nothing.
      await using watching = attached(id, { cols: 40, rows: 10 }, "--observe")
      await watching.untilLooks(/20 60/)
      small.type("\r")
      await small.untilLooks(/20 60\n20 60/)
      small.type("\x1d\x1d")
      expect(await small.exited).toBe(0)
    }

    await until("the frame is gone", () => !large.looks.includes("│"))
    large.type("\r")
    await large.untilLooks(/30 100\n.*20 60\n.*30 100/s)
  })

  test("is followed by `run -t`, too", async () => {
    const argv = [executable, "run", "-t", "--shell", script]
    await using first = new Terminal(argv, line.env(env), { cols: 100, rows: 30 })
    first.type("\r")
    await first.untilLooks(/30 100/)
    const id = await line.stdout("ps", "-q")

    await using _small = attached(id, { cols: 60, rows: 20 })

    await first.untilLooks(/│\n─ 60×20, the size of a smaller terminal/)
    first.type("\r")
    await first.untilLooks(/20 60 *│/)
  })
})

describe("what a terminal shows", () => {
  test("is printed by logs --screen, also after its end; --plain leaves text alone", async () => {
    const script = 'printf "10%%\\r20%%\\r\\n\\033[31mred\\033[0m\\r\\n"; printf "\\033[5;3Hplaced"'
    const id = await line.stdout("run", "-d", "-t", "--shell", script)
    await line.run(["wait", id])

    expect((await line.run(["logs", "--screen", id])).stdout).toBe("20%\nred\n\n\n  placed\n")
    expect((await line.run(["logs", "--plain", id])).stdout).toBe("20%\nred\nplaced")
    const refused = await line.run(["logs", "--screen", "--tail", "3", id])
    expect(refused.exitCode).toBe(2)
  })

  test("is nothing without a terminal", async () => {
    const id = await line.stdout("run", "-d", "--", "echo", "hi")
    await line.run(["wait", id])

    const { exitCode, stderr } = await line.run(["logs", "--screen", id])

    expect(exitCode).not.toBe(0)
    expect(stderr).toContain("It does not run on a terminal")
  })

  test("decides which arrow keys `send` sends", async () => {
    const keys =
      "stty raw -echo; echo ready; head -c 3 | od -An -c; " +
      "printf '\\033[?1hset'; head -c 3 | od -An -c"
    const id = await line.stdout("run", "-d", "-t", "--shell", keys)
    await untilLogged(id, /ready/)
    await line.stdout("send", "--key", "Up", id)
    await untilLogged(id, /set/)
    await line.stdout("send", "--key", "Up", id)
    await line.run(["wait", id])

    expect(await logsOf(id)).toMatch(/033 +\[ +A.*033 +O +A/s)
  })
})
