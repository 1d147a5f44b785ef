import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { CommandLine } from "../cli/command-line.ts"
import { untilNoted } from "../support/audit-lines.ts"
import { describeAContainment } from "../support/each-containment.ts"
import { filesWith } from "../support/files-with.ts"
import { textOf } from "../support/following.ts"
import { RawSession } from "../support/raw-session.ts"
import { Service } from "../support/service.ts"
import { clientOf, Steered, shell } from "../support/steered.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"

const timeoutMs = 60_000
const secret = { first: "PLANTED-0a1b2c3d", second: "4e5f60718293a4b5" }
const whole = secret.first + secret.second
const recorded = "before [redacted:planted] after\n"
const patterns = `# what must not be recorded
planted = PLANTED-[0-9a-f]{24}
--pass \\S+
`

/** A folder with a file of patterns, and how to start a service with it. */
function redacting(text: string) {
  const folder = temporaryFolder()
  const file = join(folder.path, "redact")
  writeFileSync(file, text)
  return { file, flags: { "redact-file": file }, [Symbol.dispose]: () => folder[Symbol.dispose]() }
}

function textIn(run: Steered, stream: "stdout" | "stderr"): string {
  return textOf(run.events.filter((event) => event.kind === "output" && event.stream === stream))
}

describeAContainment("a secret that a pattern describes", (containment) => {
  const setting = redacting(patterns)
  let service: Service
  beforeAll(async () => {
    service = await Service.start({ flags: { ...setting.flags, containment } })
  })
  afterAll(async () => {
    await service[Symbol.asyncDispose]()
    setting[Symbol.dispose]()
  })

  test(
    "never reaches the disk, though it is written in two halves",
    async () => {
      await using client = await clientOf(service)
      const print = (half: string) => `printf "${half}"; printf "${half}" >&2`
      const script = `${print("before $FIRST")}; read -r go; ${print("$SECOND after\\n")}`
      const env = { FIRST: secret.first, SECOND: secret.second }
      const run = await Steered.start(client, { ...shell(script), env, stdin: "pipe" })

      await run.untilCount("before ", 2) // both halves are where they can be held: not on the disk
      expect(filesWith(service.stateDir, secret.first)).toEqual([])
      await run.execution.write("go\n")
      const completed = await run.ended()

      expect(completed).toMatchObject({
        exit_code: 0,
        bytes: { stdout: recorded.length, stderr: recorded.length },
        redacted: { stdout: 1, stderr: 1, spec: 0 },
      })
      expect(textIn(run, "stdout")).toBe(recorded)
      expect(textIn(run, "stderr")).toBe(recorded)
      expect((await run.receipt()).redacted).toEqual({ stdout: 1, stderr: 1, spec: 0 })
      expect(await client.call("transcript.verify", { execution_id: run.id })).toMatchObject({
        verified: true,
        chain: "intact",
      })
      expect(filesWith(service.stateDir, whole, secret.first, secret.second)).toEqual([])
      expect(service.log.join("\n")).not.toContain(secret.second)
    },
    timeoutMs,
  )

  test(
    "is taken out of a terminal's output as well",
    async () => {
      await using client = await clientOf(service)
      const script = 'stty -echo; printf "before $FIRST"; read -r go; printf "$SECOND after\\n"'
      const run = await Steered.start(client, {
        ...shell(script),
        env: { FIRST: secret.first, SECOND: secret.second },
        terminal: { cols: 80, rows: 24 },
      })

      await run.untilCount("before ", 1)
      await run.execution.write("go\n")
      const completed = await run.ended()

      expect(completed.redacted).toEqual({ stdout: 1, stderr: 0, spec: 0 })
      expect(run.text).toBe("before [redacted:planted] after\r\n")
      expect(filesWith(service.stateDir, whole, secret.first, secret.second)).toEqual([])
    },
    timeoutMs,
  )

  test(
    "is recorded where its second half never comes: then it is none",
    async () => {
      await using client = await clientOf(service)
      const half = "PLANTED-99887766" // the others look for theirs in every file
      const run = await Steered.start(client, {
        ...shell('printf "before $FIRST"; exec sleep 1000'),
        env: { FIRST: half },
      })

      await run.untilCount("before ", 1)
      await run.execution.cancel()
      const completed = await run.ended()

      expect(run.text).toBe(`before ${half}`)
      expect(completed).toMatchObject({
        cause: "client",
        redacted: { stdout: 0, stderr: 0, spec: 0 },
      })
      expect(await client.call("transcript.verify", { execution_id: run.id })).toMatchObject({
        verified: true,
      })
    },
    timeoutMs,
  )
})

describe("a secret in a request", () => {
  const key = (mark: string) => `-----BEGIN PRIVATE KEY-----\n${mark}\n`
  const keys = "key = -----BEGIN PRIVATE KEY-----[A-Za-z0-9+/=\\s]*"
  const setting = redacting(`${patterns}${keys}\n`)
  let service: Service
  beforeAll(async () => {
    service = await Service.start({ flags: setting.flags })
  })
  afterAll(async () => {
    await service[Symbol.asyncDispose]()
    setting[Symbol.dispose]()
  })

  test(
    "is launched as it is, and recorded without",
    async () => {
      await using client = await clientOf(service)
      const script = 'printf %s "$*" | base64'
      const argv = ["sh", "-c", script, "sh", whole, "--pass", "hunter2"]
      const label = { of: whole }
      const direct = await Steered.start(client, { argv, labels: label })
      const line = await Steered.start(client, { command: `echo ${whole} | wc -c` })

      await Promise.all([direct.ended(), line.ended()])

      expect(Buffer.from(direct.text, "base64").toString()).toBe(`${whole} --pass hunter2`)
      expect(line.text.trim()).toBe("33")
      const [status, receipt] = [await direct.status(), await direct.receipt()]
      for (const { argv: told, labels } of [status, receipt.spec]) {
        expect(told).toEqual(["sh", "-c", script, "sh", "[redacted:planted]", "[redacted]", ""])
        expect(labels).toEqual({ of: "[redacted:planted]" })
      }
      expect(receipt.redacted).toEqual({ stdout: 0, stderr: 0, spec: 3 })
      expect(await line.status()).toMatchObject({
        command: "echo [redacted:planted] | wc -c",
        redacted: { spec: 1 },
      })
      expect(JSON.stringify([receipt, await line.receipt()])).not.toContain(secret.second)
      expect(filesWith(service.stateDir, whole, secret.second, "hunter2")).toEqual([])
      expect(service.log.join("\n")).not.toContain(secret.second)
    },
    timeoutMs,
  )

  test(
    "that is refused is in no file, though it goes over line ends",
    async () => {
      using session = await RawSession.open(await service.url())
      const execute = { argv: ["true"], idempotency_key: key("LEAKEDBYKEY") }
      const started = await session.call("execute", execute)
      const { execution_id } = started
      const refused: Array<[string, object]> = [
        ["status", { execution_id: key("LEAKEDBYID") }],
        ["attach", { execution_id, from: key("LEAKEDBYFROM") }],
        ["execute", { ...execute, argv: ["false"] }],
        ["execute", { argv: ["true"], labels: { ["x".repeat(480) + whole]: "long" } }],
      ]

      for (const [method, params] of refused) await session.refused(method, params)
      const again = await session.call("execute", execute)

      expect(again).toMatchObject({ execution_id, repeated: true })
      await untilNoted(service.stateDir, { method: "attach", outcome: "refused" })
      await untilNoted(service.stateDir, { method: "execute", reason: "INVALID_PARAMS" })
      expect(filesWith(service.stateDir, "LEAKED", secret.first)).toEqual([])
    },
    timeoutMs,
  )

  test(
    "in a name that means nothing is not repeated in the audit trail, not even in part",
    async () => {
      using session = await RawSession.open(await service.url())
      const name = "w".repeat(75) + whole
      const address = (await service.url(`/${name}`)).replace(/^ws/, "http")

      const { message } = await session.refused(name)
      const response = await fetch(address)

      expect(message).toContain("Unknown method")
      expect(response.status).toBe(404)
      await untilNoted(service.stateDir, { via: "http", reason: "METHOD_NOT_FOUND" })
      await untilNoted(service.stateDir, { via: "websocket", reason: "METHOD_NOT_FOUND" })
      expect(filesWith(service.stateDir, "www", secret.first)).toEqual([])
    },
    timeoutMs,
  )
})

describe("a receipt on the command line", () => {
  test(
    "says what was taken out, and where",
    async () => {
      using setting = redacting(patterns)
      await using line = new CommandLine()
      const env = { CC_EXECUTOR_REDACT_FILE: setting.file }
      const script = 'printf "$0 $0" | sed "s/$/ over/"'

      const run = await line.run(["run", "--", "sh", "-c", script, whole], { env })
      const id = await line.stdout("ps", "--all", "--quiet")

      expect(run.stdout).toBe("[redacted:planted] [redacted:planted] over")
      expect(await line.stdout("receipt", id)).toMatch(/^redacted +2 in stdout, 1 in the request$/m)
      expect(filesWith(line.stateDir, whole, secret.second)).toEqual([])
    },
    timeoutMs,
  )
})

describe("a service without patterns", () => {
  test(
    "records everything, and says that it has none",
    async () => {
      await using service = await Service.start()
      await using client = await clientOf(service)
      const run = await Steered.start(client, { argv: ["echo", whole] })

      expect(await run.ended()).toMatchObject({ redacted: null })

      expect(run.text).toBe(`${whole}\n`)
      expect((await run.receipt()).redacted).toBeNull()
      expect(filesWith(service.stateDir, whole).length).toBeGreaterThan(0)
    },
    timeoutMs,
  )
})

describe("a service is not started", () => {
  test(
    "with patterns that cannot be used; it says where, why, and what instead",
    async () => {
      using setting = redacting("fine\nkey = begin.*end\n\n(?<=look)behind\n")
      await using service = new Service({ flags: setting.flags })

      expect(await service.exited).toBe(1)

      const said = service.said.join("\n")
      expect(said).toContain(setting.file)
      expect(said).toContain("line 2: ")
      expect(said).toContain("a.{0,200}b instead of a.*b")
      expect(said).toContain("line 4: at character 2: ")
    },
    timeoutMs,
  )

  test(
    "without the file of patterns that it was told of",
    async () => {
      await using service = new Service({ flags: { "redact-file": "/nowhere/redact" } })

      expect(await service.exited).toBe(1)

      expect(service.said.join("\n")).toContain("/nowhere/redact")
    },
    timeoutMs,
  )
})
