import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { sameAsPlanned } from "../../../../src/service/keeper/starting/plan.ts"
import { allowing, plan } from "../../../support/planning.ts"

describe("with an allow-list", () => {
  test("a program on it may run, and another may not, be it there or not", () => {
    expect(plan({ argv: ["ls"] }, allowing("ls"))).toMatchObject({ ok: true })
    for (const argv of [["cat"], ["nothing-like-it"]]) {
      expect(plan({ argv }, allowing("ls"))).toMatchObject({
        ok: false,
        failure: { reason: "SECURITY_DENIED" },
      })
    }
  })

  test("the shell is refused unless it is on the list itself", () => {
    const denied = plan({ command: "ls | cat" }, allowing("ls", "cat"))
    expect(denied).toMatchObject({ ok: false, failure: { reason: "SECURITY_DENIED" } })
    expect(plan({ command: "ls | cat" }, allowing("sh"))).toMatchObject({ ok: true })
  })

  test("what is executed is the file itself, under the name it was asked by", () => {
    expect(plan({ argv: ["ls", "-l"] }, allowing("ls"))).toMatchObject({
      value: { launch: { argv: ["/real/bin/ls", "-l"], argv0: "ls" } },
    })
  })

  test("a program is told the path that was listed, not the one it was asked by", () => {
    const { policy } = allowing("ls")
    const listed = policy.programs.map((program) => ({ ...program, path: "/listed/ls" }))
    expect(plan({ argv: ["/bin/ls"] }, { policy: { ...policy, programs: listed } })).toMatchObject({
      value: { spec: { argv: ["/bin/ls"] }, launch: { argv0: "/listed/ls" } },
    })
  })

  test("a program is named plainly or not at all", () => {
    for (const name of [
      "./ls",
      "bin/ls",
      "/bin/../bin/ls",
      "/bin/./ls",
      "//bin/ls",
      "/bin/ls/",
      "",
    ])
      expect(plan({ argv: [name] }, allowing("ls"))).toMatchObject(deniedBy("name"))
    for (const name of ["ls", "/bin/ls"])
      expect(plan({ argv: [name] }, allowing("ls"))).toMatchObject({ ok: true })
  })

  test("a line with control characters or look-alikes is refused, as words it is not", () => {
    for (const command of ["ls\tx", "ls \u001b[2J", "ls ；cat", "ls ＄（cat）", "ls ＇a"]) {
      expect(plan({ command }, allowing("ls"))).toMatchObject(deniedBy("line"))
      expect(plan({ argv: ["ls", command] }, allowing("ls"))).toMatchObject({ ok: true })
    }
    expect(plan({ command: "ls 'a b' Ünï" }, allowing("ls"))).toMatchObject({ ok: true })
    expect(plan({ command: "ls\ncat" }, allowing("ls", "sh"))).toMatchObject({ ok: true })
  })

  test("a line that is none is refused as such", () => {
    for (const command of ["  ", "ls 'open"])
      expect(plan({ command }, allowing("ls"))).toMatchObject({
        failure: { reason: "SECURITY_DENIED" },
      })
  })

  test("arguments and variables have room together, and no more", () => {
    const half = "x".repeat(64 * 1024)
    const env = { A: half }
    expect(plan({ argv: ["ls", half], env }, allowing("ls"))).toMatchObject(deniedBy("size"))
    expect(plan({ argv: ["ls", half] }, allowing("ls"))).toMatchObject({ ok: true })
    expect(plan({ argv: ["ls", half], env })).toMatchObject({ ok: true })
  })

  test("variables that are not known to be harmless are refused, others are not", () => {
    for (const name of ["PATH", "LD_PRELOAD", "BASH_ENV", "PYTEST_ADDOPTS", "CI"]) {
      expect(plan({ argv: ["ls"], env: { [name]: "/tmp" } }, allowing("ls"))).toMatchObject({
        ok: false,
        failure: { reason: "SECURITY_DENIED", message: expect.stringContaining(name) },
      })
      expect(plan({ argv: ["/bin/ls"], env: { [name]: "/tmp" } })).toMatchObject({ ok: true })
    }
    expect(plan({ argv: ["ls"], env: { LANG: "C" } }, allowing("ls"))).toMatchObject({ ok: true })
  })

  test("a variable that is so anyway may be set", () => {
    const env = { PATH: "/bin", HOME: "/home/me" }
    expect(plan({ argv: ["ls"], env }, allowing("ls"))).toMatchObject({ ok: true })
  })

  test("a directory counts as what it really is, and the child starts there", () => {
    const { policy } = allowing("ls")
    const within = { policy: { ...policy, directories: ["/srv/work"] } }

    expect(plan({ argv: ["ls"], cwd: "/srv/work/a" }, within)).toMatchObject({
      value: { spec: { cwd: "/srv/work/a" }, launch: { cwd: "/srv/work/a" } },
    })
    expect(plan({ argv: ["ls"], cwd: "work/a" }, within)).toMatchObject({
      value: { launch: { cwd: "/srv/work/a" } },
    })
    for (const cwd of ["/srv", "/srv/workshop", "/srv/work/../x", "/missing"])
      expect(plan({ argv: ["ls"], cwd }, within)).toMatchObject(deniedBy("directory"))
    expect(plan({ argv: ["ls"], cwd: "/srv/work/missing" }, within)).toMatchObject({
      failure: { reason: "SPAWN_FAILED", details: { errno: "ENOENT" } },
    })
  })

  test("a directory is held to its real path where list or user judge it, else nowhere", () => {
    const { policy } = allowing("ls")
    const within = { policy: { ...policy, directories: ["/elsewhere"] } }
    const user = { uid: 7, gid: 7, user: null, home: "/", shell: "/bin/sh" }
    const real = { cwd: "/elsewhere", cwdIsReal: true }
    const asked = { cwd: "/link", cwdIsReal: false }

    for (const [rules, launch] of [
      [within, real],
      [{ user }, real],
      [{ policy }, asked],
      [{}, asked],
    ] as const)
      expect(plan({ argv: ["ls"], cwd: "/link" }, rules)).toMatchObject({
        value: { spec: { cwd: launch.cwd }, launch },
      })
  })

  test("a link out of the directories is refused; nowhere is the first of them", () => {
    const { policy } = allowing("ls")
    const inWork = { policy: { ...policy, directories: ["/link/work"] } }
    expect(plan({ argv: ["ls"], cwd: "/link/work" }, inWork)).toMatchObject(deniedBy("directory"))
    const inHome = { policy: { ...policy, directories: ["/home/me"] } }
    expect(plan({ argv: ["ls"] }, inHome)).toMatchObject({ value: { spec: { cwd: "/home/me" } } })
  })
})

describe("whatever is asked under a list", () => {
  const alphabet = Array.from("ls cat/.;|&$`\"'\\()<>\n\t\0=*?~#{}；＄（е")
  const word = fc.string({ unit: fc.constantFrom(...alphabet) })

  function runsOnlyLs(request: object): void {
    const planned = plan(request, allowing("ls"))
    if (!planned.ok) {
      expect(["SECURITY_DENIED", "SPAWN_FAILED"]).toContain(planned.failure.reason)
      return
    }
    expect(planned.value.spec.shell).toBe(false)
    expect(planned.value.launch.argv[0]).toBe("/real/bin/ls")
  }

  test("as a line, what runs is on it", () => {
    const line = fc
      .tuple(fc.constantFrom("", "ls ", "ls", "cat "), word)
      .map((parts) => parts.join(""))
    fc.assert(
      fc.property(
        line.filter((text) => text !== "" && !text.includes("\0")),
        (command) => runsOnlyLs({ command }),
      ),
    )
  })

  test("as words, what runs is on it", () => {
    const name = fc.oneof(fc.constantFrom("ls", "/bin/ls", "cat", "/bin/cat"), word)
    const argv = fc.tuple(name, word).filter((words) => !words.join("").includes("\0"))
    fc.assert(fc.property(argv, (words) => runsOnlyLs({ argv: words })))
  })
})

describe("an execution that waited", () => {
  test("is started as it was planned, and not otherwise", () => {
    const first = plan({ argv: ["ls"] })
    const spec = first.ok ? first.value.spec : expect.unreachable()

    expect(sameAsPlanned(spec, plan({ argv: ["ls"] }))).toMatchObject({ ok: true })
    expect(sameAsPlanned(spec, plan({ argv: ["ls"] }, { cwd: "/other" }))).toMatchObject({
      failure: { reason: "SECURITY_DENIED" },
    })
    expect(sameAsPlanned(spec, plan({ argv: ["ls"] }, allowing("cat")))).toMatchObject({
      failure: { reason: "SECURITY_DENIED" },
    })
  })
})

function deniedBy(rule: string) {
  return { ok: false, failure: { reason: "SECURITY_DENIED", details: { rule } } }
}
