import type { Ending } from "../../../../src/protocol/execution-view.ts"
import type { ParamsOf } from "../../../../src/protocol/methods.ts"
import { digestOf, expectTruth } from "./told-truth.ts"
import { execute, only, pick, type Work } from "./work.ts"

type ShortCommand = {
  params: ParamsOf<"execute">
  stdout?: string
  stderr?: string
  ending: Partial<Ending>
}

const numbers = Array.from({ length: 500 }, (_, line) => `${line + 1}\n`).join("")

const shortCommands: readonly ShortCommand[] = [
  { params: { argv: ["true"] }, ending: { outcome: "exited", exit_code: 0 } },
  { params: { command: "exit 255", shell: true }, ending: { outcome: "exited", exit_code: 255 } },
  {
    params: { command: "echo good; echo bad >&2; exit 3" },
    stdout: "good\n",
    stderr: "bad\n",
    ending: { outcome: "exited", exit_code: 3 },
  },
  {
    params: { command: "kill -9 $$" },
    ending: { outcome: "signaled", signal: "SIGKILL", exit_code: null },
  },
  {
    params: { argv: ["printf", "no line end"], encoding: "base64" },
    stdout: "no line end",
    ending: { outcome: "exited", exit_code: 0 },
  },
  {
    params: { argv: ["printf", "é€😀\n"] },
    stdout: "é€😀\n",
    ending: { outcome: "exited", exit_code: 0 },
  },
  {
    params: { argv: ["seq", "1", "500"], encoding: "binary" },
    stdout: numbers,
    ending: { outcome: "exited", exit_code: 0 },
  },
  {
    params: { command: "echo child; (exec sleep 0.05) & exit 9" },
    stdout: "child\n",
    ending: { outcome: "exited", exit_code: 9 },
  },
]

const commandsPerClient = 12

/** One short command after the other. */
export const shortCommandsWork: Work = {
  kind: "short commands",
  sessions: 1,
  async run(stage, clients) {
    const client = only(clients)
    for (let count = 0; count < commandsPerClient; count += 1) {
      const { params, stdout = "", stderr = "", ending } = pick(stage, shortCommands)
      const { id, output } = await execute(stage, client, params, ending)
      await expectTruth(client, id, output, {
        ending,
        stdout: digestOf(stdout),
        stderr: digestOf(stderr),
      })
    }
  },
}
