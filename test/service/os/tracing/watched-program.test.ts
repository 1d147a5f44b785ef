import { describe, expect, test } from "bun:test"
import { join } from "node:path"

const fixture = join(import.meta.dir, "../../../fixtures/watched-next-program.ts")

/** A process becomes a shell that runs a script, under watch: what it says, and its exit code. */
async function becomeWatched(script: string, limitMs = 60_000) {
  const command = [process.execPath, fixture, script, String(limitMs)]
  const child = Bun.spawn(command, { stdin: "ignore", stdout: "pipe", stderr: "inherit" })
  const text = await child.stdout.text()
  return { text, exitCode: await child.exited, pid: child.pid }
}

/** SIGHUP and SIGINT are blocked while programs change: in hexadecimal, the lowest digit. */
const stillBlocked = 3

async function expectBack(script: string, why: string, limitMs?: number): Promise<void> {
  const { text, exitCode, pid } = await becomeWatched(script, limitMs)

  const begun = `begun in ${pid}\n`
  const back = `back in ${pid}, umask 0027, blocked ${stillBlocked}: ${why}\n`
  // Where time is short, it may be over before the program says anything.
  expect(limitMs === undefined ? [begun + back] : [begun + back, back]).toContain(text)
  expect(exitCode).toBe(0)
}

describe("a program under watch becomes the previous one again, in its process, when it", () => {
  test("exits", async () => {
    await expectBack("umask 2; exit 3", "It ended at once, with exit code 3.")
  })

  test("is ended by a signal", async () => {
    await expectBack("kill -SEGV $$", "It was ended by SIGSEGV.")
  })

  test("becomes yet another that exits", async () => {
    await expectBack("exec sh -c 'exit 4'", "It ended at once, with exit code 4.")
  })

  test("waits too long for something", async () => {
    await expectBack("sleep 1000", "It was not ready within 0.2 s.", 200)
  })

  test("is busy for too long", async () => {
    await expectBack("while :; do :; done", "It was not ready within 0.2 s.", 200)
  })

  test("has been stopped", async () => {
    await expectBack("kill -STOP $$; exit 1", "It was not ready within 0.2 s.", 200)
  })
})

describe("a program under watch is left alone", () => {
  test("once it has taken over, however it ends", async () => {
    const { text, exitCode, pid } = await becomeWatched("exec 7</dev/null 7<&-; echo mine; exit 3")

    expect(text).toBe(`begun in ${pid}\nmine\n`)
    expect(exitCode).toBe(3)
  })

  test("with signals that it handles, or that end nobody, and with what it starts", async () => {
    const signals = "trap 'echo heard' USR1; kill -USR1 $$; kill -CHLD $$"
    const script = `${signals}; (exit 5); echo $?; exec 7</dev/null 7<&-`

    const { text, exitCode, pid } = await becomeWatched(script)

    expect(text).toBe(`begun in ${pid}\nheard\n5\n`)
    expect(exitCode).toBe(0)
  })
})
