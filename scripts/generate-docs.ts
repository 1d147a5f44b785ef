import { mkdir } from "node:fs/promises"
import { dirname, join } from "node:path"
import { version } from "../package.json"
import { clientVariables } from "../src/config/client-variables.ts"
import { settingGroups } from "../src/config/setting.ts"
import { type Setting, settings } from "../src/config/settings.ts"
import { executionIdFrom } from "../src/execution/id.ts"
import { createLogger } from "../src/log/log.ts"
import { endpoints } from "../src/service/transports/http/endpoints.ts"
import { openApiDocument } from "../src/service/transports/http/open-api.ts"
import { metricsPage } from "./metrics-page.ts"
import { protocolSchema } from "./protocol-schema.ts"
import { root } from "./steps.ts"

/** A file that is made from the code and committed; `--check` fails when it is not current. */
type GeneratedFile = { path: string; render: () => string }

const files: GeneratedFile[] = [
  { path: "docs/configuration.md", render: configurationPage },
  { path: "docs/metrics.md", render: metricsPage },
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
  return `${[introduction(), ...groups, redaction(), commandLine(), logs()].join("\n\n")}\n`
}

function introduction(): string {
  return [
    "# Configuration",
    "",
    "<!-- Made by scripts/generate-docs.ts from src/config/settings.ts: change it there. -->",
    "",
    "Every setting is a flag of `cc-executor serve` and an environment variable. A flag comes",
    "before its variable, the variable before the name the first generation had for it, and",
    "that before the default. Files are read only where a setting names one: policy, patterns,",
    "certificates.",
    "",
    "<!-- until: listening on -->",
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
    "On an address that other machines can reach the service listens only when they can show",
    "who they are: with a token (`cc-executor token create`), or with a certificate",
    "(`--tls-client-ca`). See [security](security.md).",
  ].join("\n")
}

type ClientVariable = (typeof clientVariables)[keyof typeof clientVariables]

function commandLine(): string {
  const documented: Record<ClientVariable, { option: string; meaning: string }> = {
    [clientVariables.url]: {
      option: "`--url`",
      meaning: "A remote service, instead of the local one.",
    },
    [clientVariables.token]: {
      option: "–",
      meaning: "The token for it. No option: arguments are for everybody to see.",
    },
    [clientVariables.tokenFile]: {
      option: "`--token-file`",
      meaning: "A file with the token, read for every connection.",
    },
    [clientVariables.caFile]: {
      option: "`--ca-file`",
      meaning: "A file with the authorities to trust for `wss://`, in PEM form.",
    },
    [clientVariables.clientCertFile]: {
      option: "`--client-cert`",
      meaning: "A file with the certificate to show, in PEM form.",
    },
    [clientVariables.clientKeyFile]: {
      option: "`--client-key`",
      meaning: "A file with its key, in PEM form, not encrypted.",
    },
  }
  return [
    "## For the command line",
    "",
    "These are no settings of the service. A service that the command line starts does not get",
    "them, and neither does what it runs.",
    "",
    "| option | variable | meaning |",
    "| --- | --- | --- |",
    ...Object.entries(documented).map(
      ([variable, { option, meaning }]) => `| ${option} | \`${variable}\` | ${meaning} |`,
    ),
    "",
    "An option comes before its variable, the token itself before a file that a variable names.",
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

function redaction(): string {
  return [
    "## Redaction",
    "",
    "`--redact-file` names a file of patterns. What they match is replaced before it is recorded,",
    "wherever output was cut into pieces, and in the request as it is recorded: command line,",
    "directory, labels, names of variables. What is launched is not changed. The receipt, `status`",
    "and `process.completed` count it in `redacted`. This is `/etc/cc-executor/redact.txt`:",
    "",
    "<!-- file: /etc/cc-executor/redact.txt -->",
    "",
    "```text",
    "# One pattern a line. `name = pattern`, with spaces around the `=`, is shown as",
    "# [redacted:name], a pattern alone as [redacted].",
    "github-token = gh[pousr]_[A-Za-z0-9]{36,}",
    "api-key = sk-[A-Za-z0-9_-]{20,}",
    "private-key = -----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[A-Za-z0-9+/=\\s]*",
    "(?i)(?:password|secret|token)\\s{0,3}[:=]\\s{0,3}\\S+",
    "```",
    "",
    "<!-- goes on after: service ready -->",
    "",
    "```sh",
    "cc-executor serve --redact-file /etc/cc-executor/redact.txt",
    "```",
    "",
    "```console",
    "$ cc-executor run -- echo 'Password: 12345'",
    "[redacted]",
    "```",
    "",
    "| written | means |",
    "| --- | --- |",
    "| `a`, `\\.`, `\\x1b`, `\\n` `\\r` `\\t` `\\f` `\\v` `\\0` | itself, in UTF-8 |",
    "| `.` | any byte but a line feed |",
    "| `\\d` `\\w` `\\s` | an ASCII digit; a letter, digit or `_`; a space |",
    "| `\\D` `\\W` `\\S` | any other byte |",
    '| `[a-z_]`, `[^"\\s]` | one of these bytes; any other byte |',
    "| `(…)`, `(?:…)`, <code>a&#124;b</code> | a group, one or the other |",
    "| `?` `*` `+` `{3}` `{3,}` `{3,8}` | repeated, as often as it goes |",
    "| `(?i)` at the beginning | ASCII letters in either case |",
    "",
    "Every byte inside any match goes; matches that overlap count as one. The time it takes is",
    "in proportion to the output, whatever is in it: there are no references back, nothing",
    "looks around (`^`, `$`, `\\b`), and a match must not be able to stay undecided without",
    "end. `a.*b` is refused, `a.{0,200}b` is not; nor is `a\\S+`, which has matched and only",
    "grows. A pattern has at most 2048 bytes with its repetitions written out, all together",
    "8192. The service does not start with a pattern it cannot use, and says which line it is,",
    "why, and what to write instead.",
    "",
    "What may be the beginning of a match is held back until that is decided, at the latest when",
    "the stream ends. An `idempotency_key` in which something matches is kept as its SHA-256: it",
    "is still found when it is repeated, and a short secret can be guessed from that.",
  ].join("\n")
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
    "<!-- until: listening on -->",
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
    "<!-- until: listening on -->",
    "",
    "```sh",
    "cc-executor serve --log-file ~/cc-executor.log --log-file-size 50MiB --log-files 10",
    "```",
    "",
    "Nothing else is needed. Where logrotate is to do it all the same, set `--log-file-size 1T`;",
    "it may rename the file or use `copytruncate`, and no signal is needed: see",
    "[observability](observability.md#logs). In a container leave the file out, and let the",
    "engine rotate standard output.",
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
