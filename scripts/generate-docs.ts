import { mkdir } from "node:fs/promises"
import { dirname, join } from "node:path"
import { version } from "../package.json"
import { settingGroups } from "../src/config/setting.ts"
import { type Setting, settings } from "../src/config/setting-list.ts"
import { executionIdFrom } from "../src/execution/id.ts"
import { endpoints } from "../src/http/endpoints.ts"
import { openApiDocument } from "../src/http/open-api.ts"
import { createLogger } from "../src/log.ts"
import { protocolSchema } from "./protocol-schema.ts"
import { root } from "./steps.ts"

/** A file that is made from the code and committed; `--check` fails when it is not current. */
type GeneratedFile = { path: string; render: () => string }

const files: GeneratedFile[] = [
  { path: "docs/configuration.md", render: configurationPage },
  jsonFile("docs/openapi.json", () => openApiDocument(endpoints, version)),
  jsonFile("docs/protocol.schema.json", protocolSchema),
]

const checking = process.argv.includes("--check")
const stale: string[] = []

for (const { path, render } of files) {
  const target = join(root, path)
  const text = render()
  const file = Bun.file(target)
  if ((await file.exists()) && (await file.text()) === text) continue
  stale.push(path)
  if (checking) continue
  await mkdir(dirname(target), { recursive: true })
  await Bun.write(target, text)
}

const verdict = checking ? "not current, run scripts/generate-docs.ts" : "written"
for (const path of stale) console.log(`${path}: ${verdict}`)
process.exit(checking && stale.length > 0 ? 1 : 0)

/** As the formatter wants it, which checks these files too. */
function jsonFile(path: string, contents: () => unknown): GeneratedFile {
  const biome = [process.execPath, join(root, "node_modules", ".bin", "biome"), "format"]
  const render = () => {
    const stdin = Buffer.from(JSON.stringify(contents(), null, 2))
    const run = Bun.spawnSync([...biome, `--stdin-file-path=${path}`], { cwd: root, stdin })
    if (!run.success) throw new Error(`${path}: biome failed: ${run.stderr.toString()}`)
    return run.stdout.toString()
  }
  return { path, render }
}

function configurationPage(): string {
  const groups = settingGroups.map((group) =>
    settingsTable(
      group,
      settings.filter((setting) => setting.group === group),
    ),
  )
  return `${[introduction(), ...groups, logs()].join("\n\n")}\n`
}

function introduction(): string {
  return [
    "# Configuration",
    "",
    "<!-- Made by scripts/generate-docs.ts from src/config/settings.ts: change it there. -->",
    "",
    "Every setting is a flag of `cc-executor serve` and an environment variable. A flag comes",
    "before its variable, the variable before the name the first generation had for it, and",
    "that before the default. Nothing is read from files.",
    "",
    "```sh",
    "cc-executor serve --port 9000 --log-level debug",
    "CC_EXECUTOR_PORT=9000 CC_EXECUTOR_LOG_LEVEL=debug cc-executor serve",
    "```",
    "",
    "The service does not start with a value it does not understand, nor with a flag it does",
    "not know: it says which one, what is allowed, and what was probably meant. A variable that",
    "begins with `CC_EXECUTOR_` and is not a setting is only warned about. An empty value is a",
    "value: leave a variable out to get the default.",
    "",
    "- **Durations** are seconds, or have a unit: `500ms`, `300`, `300s`, `5m`, `2h`, `1d`.",
    "- **Sizes** are bytes, or have a unit: `1048576`, `64k`, `64KiB`, `1M`, `1GiB`. Multiples",
    "  are binary: `1k`, `1KB` and `1KiB` are all 1024 bytes.",
    "- **Switches** are `true` or `false` (also `yes`, `no`, `on`, `off`, `1`, `0`); the flag",
    "  alone means `true`.",
    "- **Paths** are absolute, or begin with `~/`.",
    "- **Lists** are separated by commas.",
    "- `none` is no limit, or none of it, where a setting allows it.",
    "",
    "This version has no authentication. It listens on loopback addresses only, unless",
    "`--allow-unauthenticated-network` says that the network itself keeps strangers out, as a",
    "container's port mapping to 127.0.0.1 does:",
    "",
    "```sh",
    "cc-executor serve --host 0.0.0.0 --allow-unauthenticated-network",
    "```",
  ].join("\n")
}

function settingsTable(group: string, rows: Setting[]): string {
  const header = "| flag | variable | first generation | default | meaning |"
  const rule = "| --- | --- | --- | --- | --- |"
  return [`## ${group}`, "", header, rule, ...rows.map(settingRow)].join("\n")
}

function settingRow(setting: Setting): string {
  const { flag, variable, bareVariable, defaultText, description, allowed } = setting
  const bare = bareVariable === null ? "–" : `\`${bareVariable}\``
  const meaning = `${description} Allowed: ${allowed}.`
  return `| \`${flag}\` | \`${variable}\` | ${bare} | \`${defaultText}\` | ${meaning} |`
}

function logs(): string {
  return [
    "## Reading the logs",
    "",
    "Lines go to standard output: as text for people on a terminal, else one JSON object a",
    "line. This is one:",
    "",
    "```json",
    exampleLine(),
    "```",
    "",
    "| field | meaning |",
    "| --- | --- |",
    "| `level` | `debug`, `info`, `warn` or `error` |",
    "| `time` | when, in UTC with milliseconds |",
    "| `process` | `keeper`, which owns the executions, or `gateway`, which talks to clients |",
    "| `processId` | the pid of that process |",
    "| `msg` | the event: a fixed text, so that it can be counted and searched for |",
    "| `executionId`, `sessionId`, `requestId` | what the event belongs to |",
    "| `err` | an error: `type`, `message`, `stack` |",
    "| others | the event's facts; names end in their unit, as in `durationMs` |",
    "",
    "```sh",
    `cc-executor serve --log-format json | jq -c 'select(.level == "error")'`,
    "```",
    "",
    "Values of environment variables, authorization headers, cookies and tokens are written as",
    "`[redacted]` at every level. So are command lines, input and output, except at `debug`.",
    "",
    "Logging never holds an execution up. Lines that cannot be written, because the disk is",
    "full or the reader of a pipe has stalled, are counted, and the next line that can be",
    "written is preceded by `log lines were lost` with `lostLines` and the `reason`.",
    "",
    "### Rotation",
    "",
    "With `--log-file` the lines of both processes go to that file instead. Before it grows",
    "beyond `--log-file-size` it becomes `file.1`, what was `file.1` becomes `file.2`, and so",
    "on up to `--log-files` of them; the oldest goes. No line is split between two files. The",
    "file and its folder are made if they are missing, for their owner only; the folder must be",
    "writable, which is checked at the start.",
    "",
    "```sh",
    "cc-executor serve --log-file ~/cc-executor.log --log-file-size 50MiB --log-files 10",
    "```",
    "",
    "Nothing else is needed. Where logrotate is to do it all the same, set `--log-file-size 1T`",
    "and use its `copytruncate`. In a container leave the file out, and let the engine rotate",
    "standard output.",
  ].join("\n")
}

/** Written by the logger itself; only what changes from run to run is replaced. */
function exampleLine(): string {
  let written = ""
  const log = createLogger({
    process: "keeper",
    level: "info",
    format: "json",
    destination: {
      isTerminal: false,
      write: (line) => {
        written += line
      },
      countLoss: () => undefined,
      takeLoss: () => null,
      flush: () => Promise.resolve(),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    },
  })
  log
    .child({ executionId: executionIdFrom(new TextEncoder().encode("an example's id.")) })
    .info({ exitCode: 0, durationMs: 5_412_807, stdoutBytes: 48_213 }, "execution ended")
  return written
    .trim()
    .replace(/"time":"[^"]+"/, '"time":"2026-11-16T09:30:00.123Z"')
    .replace(/"processId":\d+/, '"processId":4711')
}
