import { clientVariables } from "../src/config/client-variables.ts"

type ClientVariable = (typeof clientVariables)[keyof typeof clientVariables]

/** Of docs/configuration.md. */
export function commandLineSection(): string {
  const documented: Record<ClientVariable, { option: string; meaning: string }> = {
    [clientVariables.url]: {
      option: "`--url`",
      meaning: "A remote service, instead of the local one.",
    },
    [clientVariables.context]: {
      option: "`--context`",
      meaning: "A [saved context](#saved-contexts), or `local`. `CC_EXECUTOR_URL` comes first.",
    },
    [clientVariables.token]: {
      option: "–",
      meaning: "The token for it. There is no option, because everyone can see arguments.",
    },
    [clientVariables.tokenFile]: {
      option: "`--token-file`",
      meaning: "A file with the token, read again for every connection.",
    },
    [clientVariables.caFile]: {
      option: "`--ca-file`",
      meaning: "A file with the authorities to trust for `wss://` (PEM).",
    },
    [clientVariables.clientCertFile]: {
      option: "`--client-cert`",
      meaning: "A file with the client certificate (PEM).",
    },
    [clientVariables.clientKeyFile]: {
      option: "`--client-key`",
      meaning: "A file with its key (PEM, not encrypted).",
    },
  }
  return [
    "## For the command line",
    "",
    "These are not settings of the service. They are not passed on to a service that the command",
    "line starts, nor to the commands it runs.",
    "",
    "| option | variable | meaning |",
    "| --- | --- | --- |",
    ...Object.entries(documented).map(
      ([variable, { option, meaning }]) => `| ${option} | \`${variable}\` | ${meaning} |`,
    ),
    "",
    "An option takes precedence over its variable, and the token itself over a file that a",
    "variable names.",
    "",
    ...contextsSection,
  ].join("\n")
}

const contextsSection = [
  "### Saved contexts",
  "",
  "Instead of giving the address of a remote service and its files each time, save them under a",
  "name:",
  "",
  "<!-- given: service -->",
  "",
  "```console",
  "$ (umask 077; cc-executor token create --name you > ~/.team-token)",
  "…",
  "$ cc-executor context add team --url ws://127.0.0.1:8003 --token-file ~/.team-token",
  "Use it with --context team, or from now on with: cc-executor context use team",
  "$ cc-executor run --context team -- echo hello",
  "hello",
  "$ cc-executor context use team",
  "Commands now use team, ws://127.0.0.1:8003.",
  "$ cc-executor context list",
  "   NAME   URL                  TOKEN FILE",
  "   local  this machine",
  "*  team   ws://127.0.0.1:8003  /home/you/.team-token",
  "$ cc-executor context use local",
  "Commands now use the local service.",
  "```",
  "",
  "`~/.config/cc-executor/contexts.json` (`$XDG_CONFIG_HOME` is respected) holds addresses and",
  "absolute paths, never a token, and only its owner can read it. What decides which service a",
  "command uses is the first of these: `--url`, `--state-dir` or `--context`; `CC_EXECUTOR_URL`;",
  "`CC_EXECUTOR_CONTEXT`; `CC_EXECUTOR_STATE_DIR`; `context use`; else it is the local one.",
  "`cc-executor context show` tells which, and why. Where something fails, the message names the",
  "context. `serve`, `stop`, `upgrade` and `token` are always about this machine.",
]
