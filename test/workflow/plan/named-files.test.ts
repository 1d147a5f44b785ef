import { describe, expect, test } from "bun:test"
import { filesUsed, isTestLike, namedFiles } from "../../../src/workflow/plan/named-files.ts"

describe("the files that a check names", () => {
  test.each([
    ["pytest -q tests/test_a.py::test_one", { tests: ["tests/test_a.py"], runners: ["pytest"] }],
    ["python3 -m pytest src/", { tests: ["src"], runners: ["pytest"] }],
    ["cd web && npm run build", { runners: ["npm"] }],
    ["cd web && bash check.sh", { tests: ["web/check.sh", "check.sh"] }],
    ["timeout 10 ./run.sh out.txt", { programs: ["run.sh"], objects: ["out.txt"] }],
    ["grep -q done out.txt", { objects: ["done", "out.txt"] }],
    ["bash -c 'sh verify.sh && cat a.txt'", { tests: ["verify.sh"], objects: ["a.txt"] }],
    ["FOO=1 python3 app.py | tee log", { programs: ["app.py"], objects: ["log"] }],
    ["test -f '/etc/passwd' && test -f ../x", {}],
  ])("%s", (run, expected) => {
    const found = namedFiles(run)
    const wanted = { tests: [], programs: [], objects: [], runners: [], ...expected }

    expect(found).toEqual(wanted)
  })
})

describe("the files that an act has written and a check tests with", () => {
  test.each([
    ["pytest -q tests", ["tests/test_a.py", "app.py"], ["tests/test_a.py"]],
    ["pytest", ["test_a.py", "conftest.py", "app.py"], ["test_a.py", "conftest.py"]],
    ["npm test", ["package.json", "a.test.ts", "a.ts"], ["package.json", "a.test.ts"]],
    ["npm test", ["node_modules/x/a.test.js"], []],
    ["sh check.sh", ["check.sh"], ["check.sh"]],
    ["test -f out.txt", ["out.txt"], []],
    ["python3 t01.py", ["t01.py"], []],
  ])("%s", (run, written, used) => {
    expect(filesUsed(run, written)).toEqual(used)
  })
})

test.each(["latest.txt", "contest.py", "attestation.ts", "checkout.ts", "inspector.js"])(
  "%s is not for testing",
  (path) => {
    expect(isTestLike(path)).toBe(false)
  },
)
