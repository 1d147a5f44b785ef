import { expect } from "bun:test"
import { until } from "../support/until.ts"
import { readConsole, type ShownCommand } from "./console-block.ts"
import type { Block } from "./document.ts"
import type { Ran } from "./machine.ts"
import type { Reading } from "./run-block.ts"
import { untilPrinted } from "./until-printed.ts"

/** Types the commands of a `console` block, and compares what they print with what is shown. */
export async function runConsole(block: Block, reading: Reading): Promise<void> {
  const commands = readConsole(block.text)
  const { exitCode, goesOnAfter, until: endAfter } = block.comments
  for (const [index, shown] of commands.entries()) {
    const next = commands[index + 1]
    const readyAfter = endAfter ?? (next === undefined ? goesOnAfter : null)
    if (readyAfter !== null || shown.interrupted) {
      const staysOn = endAfter === null && !shown.interrupted
      await runOn(shown, readyAfter, staysOn, reading)
      continue
    }
    const ran = await reading.machine.run(`${reading.output.inUse(shown.command)}\n`)
    expectShown(shown, ran, reading)
    const tellsCode = next?.command.startsWith("echo $?") ?? false
    const expected = next === undefined ? exitCode : 0
    if (!tellsCode)
      expect(`${ran.exitCode}: ${shown.command}`).toBe(`${expected}: ${shown.command}`)
  }
}

/** A command that does not end by itself: what is shown must come, then it is interrupted. */
async function runOn(
  shown: ShownCommand,
  readyAfter: string | null,
  staysOn: boolean,
  reading: Reading,
): Promise<void> {
  const { machine, output } = reading
  const started = await machine.start(output.inUse(shown.command))
  if (readyAfter !== null) await untilPrinted(machine, started, readyAfter)
  const hasCome = () => output.difference(shown.shown, machine.printed(started)) === null
  await until("what is shown has come", hasCome, 40_000).catch(() => {
    expectShown(shown, { exitCode: 0, printed: machine.printed(started) }, reading)
  })
  if (!staysOn) await machine.interrupt(started)
}

function expectShown({ command, shown }: ShownCommand, ran: Ran, { output }: Reading): void {
  const difference = output.difference(shown, ran.printed)
  expect(difference === null ? null : `${command}\n${difference}`).toBeNull()
}
