import { describe, expect, test } from "bun:test"
import { body, front, improving, writesBetter } from "../support/improving.ts"
import { fewIfShort } from "../support/scale.ts"
import { sharedService } from "../support/shared-service.ts"

const service = sharedService()

describe("what an agent has made of a prompt is refused, and nothing of it taken", () => {
  const rewritesCheck = `sed -i 's/grep -q done out.txt/true/' "$WORK_FILE"\n${writesBetter}`
  const refusals: [where: string, improver: string, reason: string][] = [
    ["where it rewrites its own checks", rewritesCheck, "it has changed the front matter"],
    ["where it changes nothing", "true", "it has left the text as it was"],
    [
      "where it changes what is immutable",
      `${writesBetter}sed -i 's/Never lie/Lie/' "$WORK_FILE"`,
      "it has changed what is called immutable: ## Rules (Immutable)",
    ],
    [
      "where it changes what a check runs",
      `${writesBetter}echo 'exit 0' > check.sh`,
      "it has changed what the checks use: check.sh",
    ],
    [
      "where it adds to the front matter",
      `sed -i 's/^name: p.*/&\\nprotect: []/' "$WORK_FILE"\n${writesBetter}`,
      "it has changed the front matter",
    ],
    ["where it begins the file anew", 'echo "# Do it carefully" > "$WORK_FILE"', "front matter"],
    ["where it removes the file", 'rm "$WORK_FILE"', "front matter"],
    [
      "where it puts a link there",
      'cp "$WORK_FILE" x; ln -sf x "$WORK_FILE"; echo carefully >> x',
      "front matter",
    ],
    ["where it fails", `${writesBetter}exit 3`, "act act: it failed: exit 3"],
    [
      "where it leaves no text",
      `head -c "$(grep -abn '^---$' "$WORK_FILE" | tail -n 1 | cut -d: -f2)" "$WORK_FILE" > x
       echo --- >> x; cat x > "$WORK_FILE"`,
      "it has left no text for an agent",
    ],
  ]

  test.each(fewIfShort(5, refusals))("%s", async (_, improver, reason) => {
    const more = "recovery: [{run: sh check.sh, red: empty}]\n"
    await using folder = improving(service(), improver, more, { "check.sh": "test -e out.txt\n" })
    const before = folder.read("p.md")

    const { stderr, stdout, exitCode } = await folder.run(
      "prompt",
      "run",
      "-n",
      "3",
      "--improve",
      "p.md",
    )

    expect(stderr).toContain("after trial 1: the prompt stays as it is: ")
    expect(stderr).toContain(reason)
    expect(stdout).toContain("0 of 3 passed, stopped: the improvement was refused")
    expect(exitCode).toBe(1)
    expect(front(folder.read("p.md"))).toBe(front(before))
    expect(body(folder.read("p.md"))).toBe(body(before))
    expect(folder.ledger("p.md")).toHaveLength(1)
    expect(folder.leftovers).toEqual([])
  })

  test("where the prompt was edited meanwhile", async () => {
    await using folder = improving(
      service(),
      `${writesBetter}echo 'A person was here.' >> "$EDITED"\n`,
    )
    const text = folder.read("p.md").replace("TOLD=", `EDITED=${folder.path}/p.md TOLD=`)
    folder.write("p.md", text)

    const { stderr } = await folder.run("prompt", "run", "--improve", "p.md")

    expect(stderr).toContain("the prompt was edited meanwhile")
    expect(folder.read("p.md")).toContain("A person was here.")
    expect(folder.read("p.md")).not.toContain("carefully")
  })

  test("where it would announce trials of its own", async () => {
    const tries = `"$PROGRAM" prompt run other.md 2> "$TOLD"; ${writesBetter}`
    const other = "---\nagent: touch out.txt\nchecks: [test -e out.txt]\n---\n# Other\n"
    await using folder = improving(service(), tries, "", { "other.md": other })

    await folder.run("prompt", "run", "--improve", "p.md")

    expect(folder.read("../told.txt")).toContain("This is part of trial")
    expect(folder.has("other.md.intoto.jsonl")).toBe(false)
  })
})
