import { describe, expect, test } from "bun:test"
import { AgentStage } from "../support/agent-stage.ts"
import { noClaudeCode } from "../support/claude-code.ts"
import type { Conversation } from "../support/conversation.ts"
import type { ModelStep } from "../support/messages-api.ts"
import { Service } from "../support/service.ts"
import { sharedService } from "../support/shared-service.ts"
import { resultsIn, suiteFile, testsIn } from "../support/suites.ts"
import { testUnless } from "../support/test-unless.ts"
import { until } from "../support/until.ts"
import { deedEnvironment, placesElsewhere } from "../support/work-deeds.ts"
import { WorkFolder } from "../support/work-folder.ts"

const service = sharedService()

describe("requests to an agent", () => {
  const request = (id: string, words: string, expected: unknown[], more = {}) => {
    return {
      id,
      natural_language_request: words,
      verification: { expected_patterns: expected },
      ...more,
    }
  }
  const words = {
    words: {
      tasks: [
        request("echoed", "Please say MARKER_1 at the end.", ["MARKER_1"]),
        request("answered", "What is 15 + 27?", ["42"]),
        request("nothing", "Say anything at all.", []),
      ],
    },
  }

  test("are not answered by what was asked", async () => {
    await using folder = new WorkFolder(service(), { "s.json": suiteFile(words) })

    const document = await folder.json("suite", "run", "--agent", "cat; echo; echo 42", "s.json")

    expect(resultsIn(document)).toEqual({
      echoed: "failed",
      answered: "passed",
      nothing: "unproven",
    })
    expect(document["exitCode"]).toBe(1)
  })

  test("reach the command of the file as one word, whatever is in them", async () => {
    const nasty = 'say "it"; $(touch pwned) `touch pwned` it\'s'
    const command_template = 'printf "%s|" "${METATAGS} ${REQUEST}" > said'
    const tasks = [
      request("t", nasty, [], { command_template, metatags: "[a]", expect_non_zero_exit: false }),
    ]
    await using folder = new WorkFolder(service(), { "s.json": suiteFile({ a: { tasks } }) })

    await folder.run("suite", "run", "s.json")

    expect(folder.read("said")).toBe(`[a] ${nasty}|`)
    expect(folder.has("pwned")).toBe(false)
  })

  testUnless(
    noClaudeCode,
    "are looked for in what Claude Code and its tools say, and not in what it was told",
    async () => {
      const tasks = [
        request("said", "Say the word we agreed on.", ["xylophone"]),
        request("only-asked", "Never say MARKER_2, please.", ["MARKER_2"]),
        request("ran", "Run the tests.", [{ executed: "Tests: 3" }]),
        request("only-said", "Pretend to run them.", [{ executed: "Tests: 3" }, "tests: 3"]),
      ]
      const model = ({ first, uses }: Conversation): ModelStep => {
        if (first === "Pretend to run them.") return { say: "Tests: 3, all of them pass." }
        if (first !== "Run the tests.") return { say: "It is Xylophone." }
        const input = { command: "echo Tests: $((1 + 2))", description: "run them" }
        return uses.length === 0 ? { use: "Bash", input } : { say: "They pass." }
      }
      await using stage = await AgentStage.set(model, { variables: placesElsewhere })
      await using folder = new WorkFolder(stage.service, { "s.json": suiteFile({ a: { tasks } }) })

      const document = await folder.json("suite", "run", "s.json")

      expect(resultsIn(document)).toEqual({
        said: "passed",
        "only-asked": "failed",
        ran: "passed",
        "only-said": "failed",
      })
      expect(testsIn(document)[3]?.reasons).toEqual([
        '"Tests: 3" is in no output of a tool that ran',
      ])
      expect(testsIn(document)[1]?.reasons).toEqual([
        'the pattern "MARKER_2" stands nowhere in what it wrote',
      ])
    },
    60_000,
  )

  test("that lead to questions say where they wait, and go on with an answer", async () => {
    await using scripted = await Service.start({ env: deedEnvironment })
    const tasks = [request("asks", "ask", ["anything at all"])]
    await using folder = new WorkFolder(scripted, { "s.json": suiteFile({ a: { tasks } }) })
    const run = folder.start("suite", "run", "s.json")
    const said = { text: "" }
    const reading = (async () => {
      for await (const piece of run.stderr) said.text += new TextDecoder().decode(piece)
    })()
    await until("it says so", () => said.text.includes("allows it"))

    const [, id = "", question = ""] = /agent answer (\S+) (\S+) allow/.exec(said.text) ?? []
    await folder.run("agent", "answer", id, question, "allow")

    expect(await run.exited).toBe(1)
    await reading
    expect(said.text).toContain("a/asks: the agent wants to use")
    expect(said.text).toContain("a/asks: failed")
  })
})
