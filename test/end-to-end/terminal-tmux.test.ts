import { describe, expect, setDefaultTimeout } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Client } from "../../src/client/connect.ts"
import type { TerminalSize } from "../../src/execution/spec.ts"
import { Emulator } from "../../src/terminal/emulator/emulator.ts"
import { Terminal } from "../cli/terminal/terminal.ts"
import { agentEnvironment } from "../support/agent-stage.ts"
import { claudeCodeFolder } from "../support/claude-code.ts"
import { libraryClient } from "../support/followed-output.ts"
import { MessagesApi } from "../support/messages-api.ts"
import { executable, Service } from "../support/service.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { testUnless } from "../support/test-unless.ts"
import { cellsOf, noTmux, Tmux } from "../support/tmux.ts"
import { until } from "../support/until.ts"

setDefaultTimeout(90_000)

const first: TerminalSize = { cols: 80, rows: 24 }
const second: TerminalSize = { cols: 100, rows: 30 }

type Program = {
  argv: string[]
  env?: (folder: string, apiUrl: string) => Record<string, string>
  /** What it shows before keys are typed, after them, and after the size has changed. */
  shows: RegExp
  keys: string
  showsThen: RegExp
}

const services = "/etc/services"
const programs: Record<string, Program> = {
  "a torture program": {
    argv: ["python3", join(import.meta.dir, "../fixtures/torture.py")],
    shows: /erased before/,
    keys: "\r",
    showsThen: /erased before/,
  },
  vim: {
    argv: ["vim", "-n", "-u", "NONE", "-N", "-c", "syntax on", "-c", "set hls", services],
    shows: /services/,
    keys: "/tcp\r:vsplit\r20Givim was here",
    showsThen: /vim was here/,
  },
  less: { argv: ["less", services], shows: /echo/, keys: "/udp\rjj", showsThen: /udp/ },
  top: { argv: ["top", "-d", "0.2"], shows: /PID/, keys: "z", showsThen: /PID/ },
  "Claude Code": {
    argv: [join(claudeCodeFolder, "claude")],
    env: claudeEnvironment,
    shows: /Claude Code/,
    keys: "say hello\r",
    showsThen: /Hello\./,
  },
  python: {
    argv: ["python3", "-i", "-c", "import sys; sys.ps1 = 'ready> '"],
    shows: /ready>/,
    keys: "print('\\x1b[1;32mgreen\\x1b[0m', 6 * 7)\rimport this\r",
    showsThen: /Namespaces are one/,
  },
}

describe("the screen that comes back", () => {
  for (const [name, program] of Object.entries(programs)) {
    const isThere = Bun.which(program.argv[0] ?? "") !== null
    const missing = isThere ? null : `needs ${program.argv[0]}`
    testUnless(noTmux ?? missing, `is that of tmux: ${name}`, async () => {
      await using api = new MessagesApi(() => ({ say: "Hello." }))
      using folder = temporaryFolder()
      await using service = await Service.start()
      await using client = libraryClient(await service.url())
      const { execution_id: id } = await client.call("execute", {
        argv: program.argv,
        terminal: first,
        cwd: folder.path,
        env: { TERM: "xterm-256color", LC_ALL: "C.UTF-8", ...program.env?.(folder.path, api.url) },
      })
      await client.call("detach", { execution_id: id })
      await untilShown(client, id, program.shows)
      await client.call("input", { execution_id: id, data: program.keys })
      await untilShown(client, id, program.showsThen)
      await sameAsTmux(service, client, id, first)

      // Somebody comes with another terminal, and leaves, twice: the second time there are two.
      for (const count of [1, 2]) {
        await using stack = new AsyncDisposableStack()
        const argv = [executable, "attach", "--url", await service.url(), id]
        const terminals = Array.from({ length: count }, () =>
          stack.use(new Terminal(argv, { ...process.env, TERM: "xterm-256color" }, second)),
        )
        for (const terminal of terminals) await terminal.untilLooks(program.showsThen)
        await until("its size", async () => (await shown(client, id)).cols === second.cols)
        if (name !== "python") await client.call("input", { execution_id: id, data: "\f" })
        const cells = await sameAsTmux(service, client, id, second)
        for (const terminal of terminals) {
          await until("the same here", () => sameCells(terminal.cells, cells)).catch(() =>
            expect(terminal.cells).toEqual(cells),
          )
          terminal.type("\x1d\x1d")
          expect(await terminal.exited).toBe(0)
        }
        await client.call("control", { type: "RESUME", execution_id: id })
      }
    })
  }
})

/** Of somebody who has never started it, with a stand-in for the model. */
function claudeEnvironment(folder: string, apiUrl: string): Record<string, string> {
  for (const name of ["home", "tmp"]) mkdirSync(join(folder, name))
  const answered = {
    hasCompletedOnboarding: true,
    theme: "dark",
    customApiKeyResponses: { approved: ["none"], rejected: [] },
    projects: { [folder]: { hasTrustDialogAccepted: true } },
  }
  writeFileSync(join(folder, "home/.claude.json"), JSON.stringify(answered))
  return agentEnvironment(folder, apiUrl)
}

function sameCells(one: string[], other: string[]): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

function shown(client: Client, id: string) {
  return client.call("screen", { execution_id: id })
}

async function untilShown(client: Client, id: string, pattern: RegExp): Promise<void> {
  await until(`${pattern} on the screen`, async () => pattern.test((await shown(client, id)).data))
}

/** Stops the program, and shows all that it wrote to tmux: both show the same. */
async function sameAsTmux(service: Service, client: Client, id: string, size: TerminalSize) {
  await settled(client, id)
  await client.call("control", { type: "PAUSE", execution_id: id })
  const [one, other] = await Promise.all([screenOf(service, id), screenOf(service, id)])
  using tmux = new Tmux(first)
  for (const part of await written(service, client, id, size)) {
    tmux.resize(part.size)
    await tmux.show(part.bytes)
  }
  expect(one.size).toEqual(size)
  expect(one.cells).toEqual(tmux.cells())
  expect(other.cells).toEqual(one.cells)
  expect(one.cursor).toBe(tmux.cursor())
  return one.cells
}

/** A program that goes on forever, as top does, is looked at in the middle. */
async function settled(client: Client, id: string): Promise<void> {
  let before = ""
  let looks = 0
  await until("it rests", async () => {
    const { data, next } = await shown(client, id)
    const now = data + next
    looks += 1
    const rests = now === before || looks > 8
    before = now
    return rests
  })
}

async function screenOf(service: Service, id: string) {
  await using client = libraryClient(await service.url())
  const options = { screen: { scrollback: 100, size: () => null } }
  const execution = await client.attach(id, options)
  for await (const event of execution.output()) {
    if (event.kind !== "screen") continue
    const { data, title, cols, rows } = event.screen
    using emulator = new Emulator({ cols, rows })
    emulator.restore(data, title)
    const { x, y, visible } = emulator.cursor
    const cursor = `${x},${y},${visible ? 1 : 0}`
    return { cells: cellsOf(emulator), cursor, size: { cols, rows } }
  }
  throw new Error("there is no screen")
}

/** Everything from the start, cut where the terminal had another size. */
async function written(service: Service, client: Client, id: string, last: TerminalSize) {
  const { bytes } = await client.call("status", { execution_id: id })
  await using reader = libraryClient(await service.url())
  const execution = await reader.attach(id, { encoding: "binary" })
  execution.tellSizes()
  const parts: { size: TerminalSize; bytes: Buffer }[] = []
  let length = 0
  for await (const event of execution.output()) {
    const part = parts.at(-1)
    if (event.kind === "resized") {
      parts.push({ size: { cols: event.cols, rows: event.rows }, bytes: Buffer.alloc(0) })
    } else if (event.kind === "output" && part !== undefined) {
      part.bytes = Buffer.concat([part.bytes, event.bytes])
      length += event.bytes.length
    }
    if (length >= bytes.stdout && parts.at(-1)?.size.cols === last.cols) break
  }
  return parts
}
