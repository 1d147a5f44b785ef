import { expect } from "bun:test"
import { createHash } from "node:crypto"
import { StreamClient } from "../../support/stream-client.ts"
import type { Evidence } from "./evidence.ts"

type ShortCommand = { argv: string[]; exitCode: number; stdout: string; stderr: string }

/** Takes turns between programs that say nothing, something, and something on both streams. */
function shortCommand(number: number): ShortCommand {
  const text = `execution ${number}`
  switch (number % 3) {
    case 0:
      return { argv: ["true"], exitCode: 0, stdout: "", stderr: "" }
    case 1:
      return { argv: ["echo", text], exitCode: 0, stdout: `${text}\n`, stderr: "" }
    default: {
      const exitCode = number % 256
      const script = `echo out ${text}; echo error ${text} >&2; exit ${exitCode}`
      return {
        argv: ["sh", "-c", script],
        exitCode,
        stdout: `out ${text}\n`,
        stderr: `error ${text}\n`,
      }
    }
  }
}

/** Executes one and checks all that is known of its result; answers its id. */
async function runShort(client: StreamClient, number: number, evidence: Evidence): Promise<string> {
  const command = shortCommand(number)
  const startedMs = performance.now()
  const { id, output } = await client.execute({ argv: command.argv })
  evidence.latency("execute, answered", performance.now() - startedMs)
  const completed = await output.completed
  evidence.latency("execute, ended", performance.now() - startedMs)

  expect({ ...completed, faults: output.faults, survivors: completed.survivors }).toMatchObject({
    outcome: "exited",
    exit_code: command.exitCode,
    bytes: { stdout: command.stdout.length, stderr: command.stderr.length },
    faults: [],
    survivors: [],
  })
  expect(output.hash("stdout")).toBe(sha256(command.stdout))
  expect(output.hash("stderr")).toBe(sha256(command.stderr))
  return id
}

const perSession = 50

/** Runs so many, eight at once; every session serves fifty, and the next takes its place. */
export async function runShorts(
  url: string,
  numbers: { from: number; to: number },
  evidence: Evidence,
): Promise<string[]> {
  const ids: string[] = []
  let next = numbers.from
  const work = async () => {
    while (next < numbers.to) {
      using client = await StreamClient.connect(url)
      for (let done = 0; done < perSession && next < numbers.to; done += 1) {
        const number = next
        next += 1
        ids.push(await runShort(client, number, evidence))
      }
    }
  }
  await Promise.all(Array.from({ length: 8 }, work))
  return ids
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex")
}
