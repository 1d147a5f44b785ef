import { describe, expect, test } from "bun:test"
import { sharedService } from "../support/shared-service.ts"
import { WorkFolder } from "../support/work-folder.ts"

const service = sharedService()

describe("what is written by a template", () => {
  test.each([
    ["a prompt", ["prompt", "new"], ["prompt", "check"]],
    ["a task list", ["tasks", "new"], ["tasks", "check"]],
    ["a project blueprint", ["tasks", "new", "--blueprint"], ["tasks", "check"]],
  ])("passes its own check, whatever it is called: %s", async (_, make, check) => {
    await using folder = new WorkFolder(service())
    for (const name of ["P", "12", 'a: "b" #c', "true"]) {
      const made = await folder.run(...make, name)
      const checked = await folder.run(...check, `${name}.md`)
      const again = await folder.run(...make, name)

      expect([name, made.exitCode, checked.stdout, checked.exitCode]).toEqual([
        name,
        0,
        expect.stringContaining("has all that it needs."),
        0,
      ])
      expect([again.exitCode, again.stderr]).toEqual([1, expect.stringContaining("exists already")])
    }
  })
})

/** Does what the blueprint says, for a project that doubles numbers. */
const worker = `cat > /dev/null
case $WORK_ITEM in
  T01) printf '# Double\\n\\n## Usage\\n\\nsh double.sh 2\\n' > README.md ;;
  T02) printf 'echo $(($1 * 2))\\n' > double.sh; mkdir tests
       printf 'set -e\\nfor one in tests/*; do sh "$one"; done\\n' > test.sh
       printf 'test "$(sh double.sh 2)" = 4\\n' > tests/first; chmod +x test.sh ;;
  T03) printf 'test $# -gt 0 && echo $(($1 * 2))\\n' > double.sh
       printf '! sh double.sh\\n' > tests/r1_needs_a_number ;;
  T04) sed -i '1i case $1 in *[!0-9]*) exit 2 ;; esac' double.sh
       printf '! sh double.sh x\\n' > tests/r2_refuses_words ;;
esac
`

test("a blueprint can be worked off as it is", async () => {
  await using folder = new WorkFolder(service())
  await folder.run("tasks", "new", "--blueprint", "PROJECT")
  folder.write(
    "PROJECT.md",
    folder.read("PROJECT.md").replace(/^agent: .*/m, "agent: sh worker.sh"),
  )
  folder.write("worker.sh", worker)
  folder.write("test-settings", "")
  folder.commitAll()

  const { stdout, stderr } = await folder.run("tasks", "run", "PROJECT.md")

  expect(stderr.match(/^T0\d, trial \d: \w+/gm)).toEqual([
    "T01, trial 1: PASSED",
    "T02, trial 2: PASSED",
    "T03, trial 3: PASSED",
    "T04, trial 4: PASSED",
  ])
  expect(stdout).toContain("T05 is open; it has no check")
})

test("a list that cannot be shown done is told what it lacks", async () => {
  const list = `# L

- [ ] **T01 – One**
  Check: run \`make\` and look
- [ ] **T02 – Two**
  Check: \`make || true\`
- [ ] **T03 – Three**
  Verification: somebody looks at it
`
  await using folder = new WorkFolder(service(), { "L.md": list, "E.md": "# Nothing\n" })

  const lacking = await folder.run("tasks", "check", "L.md")
  const json = await folder.json("tasks", "check", "L.md")
  const none = await folder.run("tasks", "check", "E.md")

  expect(lacking.exitCode).toBe(1)
  expect(lacking.stdout.split("\n").slice(1)).toEqual([
    "  line 4: this is not run, since more than a command stands there: Check: run `make` and look",
    "  line 6: `make || true` shows nothing: it ends in a command that cannot fail",
    "  note: T01 has no check: a person has to accept it",
    "  note: T03 has no check, and line 8 is prose: a person has to accept it",
    "",
  ])
  expect(json).toMatchObject({ exitCode: 1, complete: false })
  expect([none.exitCode, none.stderr]).toEqual([1, expect.stringContaining("is no task list")])
})
