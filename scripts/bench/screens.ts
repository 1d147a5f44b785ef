import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { connect } from "../../src/client/connect.ts"
import { below, type Figure, type Measured } from "./figure.ts"
import { MeasuredService } from "./measured-service.ts"
import { cpuSecondsOf, memoryOf } from "./process-cost.ts"
import { percentile } from "./statistics.ts"

const mebibyte = 1024 * 1024
const samples = 20
const terminals = 20
const line = "\\033[32mbuild\\033[0m \\033[1;38;2;10;200;30mcompiled\\033[0m some/module/file.c\\n"
const about = `A terminal of 80×24 with colored lines behind it: from asking to the whole screen,
  ${samples} times each. Beside it, \`tmux attach\` to a pane that has shown the same 131 MiB, until
  its last line is drawn. "Cold" is the first screen after the gateway was killed, with its start.
  CPU is that of keeper, gateway and the process of the screens, until the screen is up to date.`

/** How quickly screens come back, and what keeping them costs. */
export async function measureScreens(executable: string): Promise<Measured> {
  const figures: Figure[] = []
  {
    await using service = await MeasuredService.start(executable)
    for (const [name, bytes] of [
      ["131 MiB", 131 * mebibyte],
      ["1 GB", 1_000_000_000],
    ] as const) {
      figures.push(...(await measureBehind(service, name, bytes)))
    }
  }
  figures.push(await tmuxAttachMs(131 * mebibyte))
  figures.push(...(await measureMany(executable)))
  return { about, figures, plots: [] }
}

async function measureBehind(service: MeasuredService, name: string, bytes: number) {
  await using client = connect({ url: service.url })
  const script = `${flood(bytes)}; printf '\\030\\033[0m\\nfinished'; exec sleep 1000`
  const cpuBefore = service.cpuSeconds()
  const { execution_id: id } = await client.call("execute", {
    argv: ["sh", "-c", script],
    terminal: { cols: 80, rows: 24 },
    budget: { bytes: 2 ** 31 },
  })
  await client.call("detach", { execution_id: id })
  const startedMs = performance.now()
  let screenMs = Number.NaN
  for (;;) {
    const { data } = await client.call("screen", { execution_id: id })
    if (data.includes("finished")) break
    await Bun.sleep(20)
  }
  const shownS = (performance.now() - startedMs) / 1000
  const cpu = service.cpuSeconds() + cpuSecondsOf(screensPid(service)) - cpuBefore
  const times: number[] = []
  for (let sample = 0; sample < samples; sample += 1) {
    await using other = connect({ url: service.url })
    await other.connected
    const askedMs = performance.now()
    const attached = await other.attach(id, { screen: { scrollback: 300, size: () => null } })
    for await (const event of attached.output()) if (event.kind === "screen") break
    screenMs = performance.now() - askedMs
    times.push(screenMs)
  }
  process.kill(service.gatewayPid, "SIGKILL")
  const killedMs = performance.now()
  await using back = connect({ url: service.url })
  await back.call("screen", { execution_id: id })
  const coldMs = performance.now() - killedMs
  await client.call("control", { type: "CANCEL", execution_id: id })
  return [
    {
      what: `screen with ${name} behind it, p50`,
      value: percentile(times, 0.5),
      unit: "ms",
      aim: below(300),
    },
    {
      what: `screen with ${name} behind it, p99`,
      value: percentile(times, 0.99),
      unit: "ms",
      aim: below(300),
    },
    { what: `the same, cold, after the gateway was killed`, value: coldMs, unit: "ms" },
    {
      what: `CPU per MB of terminal output (${name})`,
      value: (cpu * 1000) / (bytes / 1e6),
      unit: "ms",
    },
    {
      what: `terminal output recorded and shown (${name})`,
      value: bytes / 1e6 / shownS,
      unit: "MB/s",
    },
  ] satisfies Figure[]
}

async function measureMany(executable: string): Promise<Figure[]> {
  await using service = await MeasuredService.start(executable)
  await using client = connect({ url: service.url })
  const ids: string[] = []
  for (let count = 0; count < terminals; count += 1) {
    const { execution_id: id } = await client.call("execute", {
      argv: [
        "sh",
        "-c",
        `${flood(2 * mebibyte)}; printf '\\030\\033[0m\\nfinished'; exec sleep 1000`,
      ],
      terminal: { cols: 80, rows: 24 },
    })
    await client.call("detach", { execution_id: id })
    ids.push(id)
  }
  for (const id of ids) {
    while (!(await client.call("screen", { execution_id: id })).data.includes("finished")) {
      await Bun.sleep(20)
    }
  }
  const { keeper, gateway } = service.memory()
  const screens = memoryOf(screensPid(service))
  return [
    {
      what: `keeper with ${terminals} terminals, RSS`,
      value: keeper.rssMb,
      unit: "MB",
      aim: below(100),
    },
    {
      what: `gateway with ${terminals} terminals, RSS`,
      value: gateway.rssMb,
      unit: "MB",
      aim: below(100),
    },
    { what: `process of ${terminals} screens, RSS`, value: screens.rssMb, unit: "MB" },
  ]
}

function flood(bytes: number): string {
  return `yes "$(printf '${line}')" | head -c ${bytes}`
}

function screensPid(service: MeasuredService): number {
  const { stdout } = Bun.spawnSync(["pgrep", "-P", `${service.gatewayPid}`])
  return Number(stdout.toString().trim())
}

async function tmuxAttachMs(bytes: number): Promise<Figure> {
  const folder = mkdtempSync(join(tmpdir(), "tmux-bench-"))
  const socket = join(folder, "socket")
  const tmux = (...args: string[]) =>
    Bun.spawnSync(["tmux", "-S", socket, "-f", "/dev/null", ...args])
  try {
    const script = `${flood(bytes)}; printf '\\030\\033[0m\\nfinished'; exec sleep 1000`
    tmux("new-session", "-d", "-x", "80", "-y", "24", "sh", "-c", script)
    const startedMs = performance.now()
    while (!tmux("capture-pane", "-p").stdout.toString().includes("finished")) await Bun.sleep(50)
    const shownS = (performance.now() - startedMs) / 1000
    console.error(`tmux has shown it in ${shownS.toFixed(1)} s`)
    const times: number[] = []
    for (let sample = 0; sample < samples; sample += 1) times.push(await attachMs(socket))
    return {
      what: "tmux attach with 131 MiB behind it, p50",
      value: percentile(times, 0.5),
      unit: "ms",
    }
  } finally {
    tmux("kill-server")
    rmSync(folder, { recursive: true, force: true })
  }
}

async function attachMs(socket: string): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  const askedMs = performance.now()
  let seen = ""
  const client = Bun.spawn(["tmux", "-S", socket, "attach"], {
    env: { ...process.env, TERM: "xterm-256color" },
    terminal: {
      cols: 80,
      rows: 25,
      data: (_, bytes) => {
        seen += Buffer.from(bytes).toString("latin1")
        if (seen.includes("finished")) resolve(performance.now() - askedMs)
      },
    },
  })
  const ms = await promise
  client.kill("SIGTERM")
  await client.exited
  return ms
}
