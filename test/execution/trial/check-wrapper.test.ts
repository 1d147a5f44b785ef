import { describe, expect, test } from "bun:test"
import {
  checkArgv,
  markerFound,
  markerVariable,
  newMarker,
} from "../../../src/execution/trial/check-wrapper.ts"

const marker = newMarker(new Date("2026-11-18T14:30:22.999Z"), "abc")

/** What a check's wrapper writes, and how it exits. */
function runCheck(run: string) {
  const { stdout, exitCode } = Bun.spawnSync(checkArgv(run), {
    env: { PATH: process.env["PATH"] ?? "", [markerVariable]: marker },
  })
  return { text: stdout.toString(), exitCode }
}

test("a marker says when it was made, and has the form of all markers", () => {
  expect(marker).toBe("MARKER_20261118_143022_abc")
})

describe("a wrapped check", () => {
  test.each([
    ["true", 0],
    ["exit 3", 3],
    ["false; true", 1],
    ["kill -9 $$", 137],
    ["no-such-program-at-all", 127],
    ["printf 'no line end'; exit 2", 2],
    ["cat nowhere 2>&1 | grep -q . ; set +e; false; exit 0", 0],
  ])("%s ends with its own exit, which stands at the end", (run, code) => {
    const { text, exitCode } = runCheck(run)
    expect(exitCode).toBe(code)
    expect(text.startsWith(`${marker} begin\n`)).toBe(true)
    expect(markerFound(text, marker, code)).toBe("seen")
  })

  test("that ends its wrapper leaves no end", () => {
    expect(markerFound(runCheck("kill -9 $PPID").text, marker, 0)).toBe("none")
  })
})

describe("an end in a transcript", () => {
  test.each([
    ["of another marker", "MARKER_20261118_143022_abd end exit 0\n", "none"],
    ["cut short", `${marker} end exit 0`, "none"],
    ["with a code that is none", `${marker} end exit x\n`, "none"],
    ["with another code", `${marker} end exit 1\n`, "other-exit"],
    ["before another one", `${marker} end exit 0\n${marker} end exit 1\n`, "other-exit"],
    ["after another one", `${marker} end exit 1\n${marker} end exit 0\n`, "seen"],
    ["before leftovers", `${marker} end exit 0\nserver stopped\n`, "seen"],
    ["on a terminal", `${marker} end exit 0\r\n`, "seen"],
    ["that is not there", `${marker} begin\n`, "none"],
  ] as const)("%s", (_, text, found) => {
    expect(markerFound(text, marker, 0)).toBe(found)
  })
})
