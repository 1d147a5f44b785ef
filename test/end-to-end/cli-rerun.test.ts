import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { z } from "zod"
import { ExecutionView } from "../../src/protocol/execution-view.ts"
import { CommandLine } from "../cli/command-line.ts"

setDefaultTimeout(60_000)

describe("rerun", () => {
  test("runs the same again, in the same place, save for what is changed", async () => {
    await using line = new CommandLine()
    const script = "pwd; echo $0 $1; exit 3"
    const options = [
      "--cwd",
      "/",
      "-l",
      "kept=1",
      "-l",
      "of=first",
      "--timeout",
      "90s",
      "--output-limit",
      "1M",
    ]
    const first = await line.run(["run", ...options, "--", "sh", "-c", script, "a", "b c"])
    const id = await line.stdout("ps", "-a", "-q")

    const again = await line.run(["rerun", id, "-l", "of=second"])
    const other = await line.run(["rerun", id, "--", "echo", "other"])
    const list = z.object({ executions: z.array(ExecutionView) })
    const { executions } = list.parse(JSON.parse(await line.stdout("ps", "-a", "--json")))

    expect(first).toMatchObject({ exitCode: 3, stdout: "/\na b c\n" })
    expect(again).toMatchObject({ exitCode: 3, stdout: "/\na b c\n" })
    expect(other).toMatchObject({ exitCode: 0, stdout: "other\n" })
    expect(executions.map(({ labels }) => labels["of"])).toEqual(["first", "second", "first"])
    for (const { cwd, timeout, limits, labels } of executions) {
      expect({ cwd, timeout, output: limits.output, kept: labels["kept"] }).toEqual({
        cwd: "/",
        kept: "1",
        timeout: 90,
        output: 1_048_576,
      })
    }
  })

  test("knows a command line for the shell from a program", async () => {
    await using line = new CommandLine()
    await line.run(["run", "--shell", "echo one | tr o O"])
    const id = await line.stdout("ps", "-a", "-q")

    expect(await line.run(["rerun", id])).toMatchObject({ exitCode: 0, stdout: "One\n" })
  })
})
