import { describe, expect, test } from "bun:test"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { CommandLine } from "../cli/command-line.ts"

/** Somebody has run something that works, and something that does not. */
async function used(line: CommandLine): Promise<string> {
  await line.stdout("run", "--", "echo", "hello there")
  await line.run(["run", "--", "no-such-program"])
  return join(line.stateDir, "audit", "00000001.jsonl")
}

describe("audit", () => {
  test("shows who asked for what, and what became of it, while the service runs", async () => {
    await using line = new CommandLine()
    await used(line)

    const { exitCode, stdout } = await line.run(["audit"])

    expect(exitCode).toBe(0)
    const [title, ...rows] = stdout.trimEnd().split("\n")
    expect(title).toMatch(/^TIME +WHO +FROM +OUTCOME +REASON +WHAT$/)
    expect(rows).toContainEqual(
      expect.stringMatching(/Z +local +websocket unix +allowed +execute \w{8} echo "hello there"/),
    )
    expect(rows).toContainEqual(
      expect.stringMatching(/ local +websocket unix +refused +SPAWN_FAILED +execute no-such-pro/),
    )
    expect(rows).toContainEqual(expect.stringMatching(/ happened +\w{8} ended: exit code 0$/))
  })

  test("gives the lines themselves to a program, as many as it wants", async () => {
    await using line = new CommandLine()
    const file = await used(line)
    await line.run(["stop"])
    const all = readFileSync(file, "utf8")

    expect((await line.run(["audit", "--json", "--all"])).stdout).toBe(all)
    expect((await line.run(["audit", "--json", "--since", "1h"])).stdout).toBe(all)
    const [first = "", second = ""] = all.trimEnd().split("\n").slice(-2)
    expect((await line.run(["audit", "--json", "-n", "2"])).stdout).toBe(`${first}\n${second}\n`)
    const later = await line.run(["audit", "--json", "--since", "2100-01-01"])
    expect(later).toMatchObject({ exitCode: 0, stdout: "" })
  })

  test("goes on with what is added, each line once", async () => {
    await using line = new CommandLine()
    const file = await used(line)
    await using followed = line.start("audit", "--json", "--follow")
    await followed.untilSays("no-such-program")

    await line.stdout("run", "--", "echo", "and another")
    await line.run(["stop"])
    await followed.untilSays("service-ended")

    expect(followed.stdout).toBe(readFileSync(file, "utf8"))
  })

  test("refuses what it cannot know", async () => {
    await using line = new CommandLine()

    const twice = await line.run(["audit", "--all", "-n", "3"])
    const remote = await line.run(["audit", "--url", "ws://localhost:1"])
    const head = await line.run(["audit", "--verify", "--head", "7"])

    expect([twice, remote, head].map(({ exitCode }) => exitCode)).toEqual([2, 2, 2])
    expect(twice.stderr).toContain("Use only one of --lines, --all and --since")
    expect(remote.stderr).toContain("leave out --url")
    expect(head.stderr).toContain("NUMBER:HASH")
  })
})

describe("audit --verify", () => {
  test("says that it is intact, and a head that is found again later", async () => {
    await using line = new CommandLine()
    await used(line)

    const { exitCode, stdout } = await line.run(["audit", "--verify"])
    const head = /^head +(\d+:[0-9a-f]{64})$/m.exec(stdout)?.[1] ?? ""
    await line.stdout("run", "--", "true")
    const later = await line.run(["audit", "--verify", "--head", head])

    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^intact +lines 1 to \d+ in 1 file$/m)
    expect(later.exitCode).toBe(0)
    expect(later.stdout).toContain(`noted      ${head.split(":")[0]} found, hash matches`)
  })

  test("names the line in which a letter was changed", async () => {
    await using line = new CommandLine()
    const file = await used(line)
    await line.run(["stop"])
    const text = readFileSync(file, "utf8")
    writeFileSync(file, text.replace("hello there", "hello where"))

    const { exitCode, stdout } = await line.run(["audit", "--verify"])
    const json = await line.run(["audit", "--verify", "--json"])

    const number = text.slice(0, text.indexOf("hello there")).split("\n").length
    expect(exitCode).toBe(1)
    expect(stdout).toStartWith(`broken     line ${number} of 00000001.jsonl in `)
    expect(json.exitCode).toBe(1)
    expect(JSON.parse(json.stdout)).toMatchObject({
      verified: false,
      fault: { file: "00000001.jsonl", line: number },
      head: { number: number - 1 },
    })
  })

  test("with a head misses lines that were cut off at the end", async () => {
    await using line = new CommandLine()
    const file = await used(line)
    await line.run(["stop"])
    const { head } = JSON.parse(await line.stdout("audit", "--verify", "--json"))
    const lines = readFileSync(file, "utf8").trimEnd().split("\n")
    writeFileSync(
      file,
      lines
        .slice(0, -2)
        .map((text) => `${text}\n`)
        .join(""),
    )

    expect((await line.run(["audit", "--verify"])).exitCode).toBe(0)
    const { exitCode, stdout } = await line.run([
      "audit",
      "--verify",
      "--head",
      `${head.number}:${head.hash}`,
    ])
    expect(exitCode).toBe(1)
    expect(stdout).toContain(`before line ${head.number} of the given head: lines were removed`)
  })

  test("without any trail finds nothing wrong", async () => {
    await using line = new CommandLine()

    const { exitCode, stdout } = await line.run(["audit", "--verify"])

    expect({ exitCode, stdout }).toMatchObject({ exitCode: 0 })
    expect(stdout).toContain("no lines yet")
  })
})
