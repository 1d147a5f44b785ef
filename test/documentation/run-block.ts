import { expect } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../../scripts/steps.ts"
import { readScript } from "./console-block.ts"
import type { Block } from "./document.ts"
import { prepare } from "./givens.ts"
import type { Machine } from "./machine.ts"
import { expectReadable } from "./readable.ts"
import { runConsole } from "./run-console.ts"
import type { ShownOutput } from "./shown-output.ts"
import { untilPrinted } from "./until-printed.ts"

/** Where a document is read: its machine, and the names it has used so far. */
export type Reading = { machine: Machine; output: ShownOutput }

/** Runs a block as its language and its comments say. */
export async function runBlock(block: Block, reading: Reading): Promise<void> {
  const { machine } = reading
  const { given, file, conversation, runBy } = block.comments
  if (runBy !== null) return expectRunBy(runBy, block.document)
  await prepare(given, machine)
  if (file !== null) await expectDone(machine, writing(block.text, file))
  if (file !== null && isProgram(block)) return // another block runs it
  if (conversation) return converse(block, reading)
  switch (block.language) {
    case "console":
      return runConsole(block, reading)
    case "sh":
      return runScript(block, machine)
    case "python":
      return expectDone(machine, fed("/usr/bin/python3 -", block.text), 30_000)
    case "ts":
    case "js":
      return expectDone(machine, `cd ${root} && ${fed("bun run -", block.text)}`, 30_000)
    case "systemd":
      return expectUnit(block.text, machine)
    case "json":
    case "yaml":
    case "toml":
    case "ini":
    case "text":
      return expectReadable(block)
    default:
      throw new Error(`nobody knows how to run "${block.language}"`)
  }
}

function isProgram({ language }: Block): boolean {
  return ["sh", "python", "ts", "js"].includes(language)
}

/** The other test must at least say of which document it runs something. */
function expectRunBy(test: string, document: string): void {
  const path = join(root, test)
  expect(existsSync(path) ? readFileSync(path, "utf8") : `there is no ${test}`).toContain(document)
}

async function runScript({ text, comments }: Block, machine: Machine): Promise<void> {
  const { until: endAfter, goesOnAfter, exitCode } = comments
  if (endAfter !== null) {
    for (const command of readScript(text)) {
      const started = await machine.start(command)
      await untilPrinted(machine, started, endAfter)
      await machine.interrupt(started)
    }
    return
  }
  if (goesOnAfter !== null) {
    await untilPrinted(machine, await machine.start(`set -e\n${text}`), goesOnAfter)
    return
  }
  if (exitCode === 0) return expectDone(machine, text, 60_000)
  const ran = await machine.run(text)
  expect(`${ran.exitCode}\n${ran.printed.join("\n")}`).toStartWith(`${exitCode}\n`)
}

/** Every command of the script succeeds; else it ends, as by `set -e`, but the shell does not. */
async function expectDone(machine: Machine, script: string, limitMs?: number): Promise<void> {
  const { exitCode, printed } = await machine.run(`trap return ERR\n${script}\n`, limitMs)
  expect(`${exitCode}\n${printed.join("\n")}`).toStartWith("0\n")
}

async function converse(block: Block, { machine, output }: Reading): Promise<void> {
  expectReadable(block)
  const script = join(root, "test/documentation/fixtures/converse.ts")
  const { printed } = await machine.run(fed(`bun '${script}'`, block.text))
  expect(output.difference(block.text.split("\n"), printed)).toBeNull()
}

async function expectUnit(text: string, machine: Machine): Promise<void> {
  if (Bun.which("systemd-analyze") === null) return
  const path = "/run/cc-executor-documented.service"
  await expectDone(machine, `${writing(text, path)}\nsystemd-analyze verify ${path}`)
}

function writing(text: string, path: string): string {
  return fed(`mkdir -p "$(dirname ${path})"; cat > ${path}`, text)
}

function fed(command: string, text: string): string {
  return `${command} <<'END OF THE BLOCK'\n${text}END OF THE BLOCK`
}
