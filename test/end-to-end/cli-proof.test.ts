import { describe, expect, test } from "bun:test"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { CommandLine } from "../cli/command-line.ts"

/** An execution that has ended, with its receipt and the public key in files. */
async function ended(line: CommandLine) {
  const id = await line.stdout("run", "-d", "--", "sh", "-c", "seq 1 1000; echo done >&2")
  await line.run(["wait", id])
  const receipt = join(line.stateDir, "receipt.json")
  const key = join(line.stateDir, "key.pem")
  writeFileSync(receipt, await line.stdout("receipt", "--json", id))
  writeFileSync(key, `${await line.stdout("receipt", "--public-key")}\n`)
  return { id, receipt, key, transcript: join(line.stateDir, "transcripts", id) }
}

describe("verify without a service", () => {
  test("reads the state directory, and starts nothing", async () => {
    await using line = new CommandLine()
    const { id } = await ended(line)
    await line.run(["stop"])

    const { exitCode, stdout } = await line.run(["verify", "--contains", "done", id.slice(0, 10)])

    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/transcript +intact\ntext +found in stderr/)
    expect(stdout).toContain("check that key with --public-key FILE")
    expect((await line.run(["healthcheck"])).exitCode).toBe(1)
  })

  test("trusts a key that it is given", async () => {
    await using line = new CommandLine()
    const { receipt, key, transcript } = await ended(line)
    await line.run(["stop"])
    const argv = ["verify", "--receipt", receipt, "--public-key", key, "--transcript", transcript]

    const { exitCode, stdout } = await line.run(argv)
    const json = JSON.parse((await line.run([...argv, "--json", "--contains", "1000"])).stdout)

    expect(exitCode).toBe(0)
    expect(stdout).toContain("signed by the trusted key")
    expect(json).toMatchObject({ verified: true, receipt: { status: "trusted" } })
  })

  test("finds a flipped byte, and says where", async () => {
    await using line = new CommandLine()
    const { id, receipt, transcript } = await ended(line)
    await line.run(["stop"])
    const [segment = ""] = readdirSync(transcript)
    const path = join(transcript, segment)
    const bytes = readFileSync(path)
    bytes.writeUInt8(bytes.readUInt8(400) ^ 1, 400)
    writeFileSync(path, bytes)

    const stored = await line.run(["verify", id])
    const files = await line.run(["verify", "--receipt", receipt, "--transcript", transcript])

    expect(stored.exitCode).toBe(1)
    expect(stored.stdout).toMatch(/transcript +broken at \d+/)
    expect(stored.stdout).toContain("NOT VERIFIED")
    expect(files.exitCode).toBe(1)
  })

  test("refuses a receipt with a changed field", async () => {
    await using line = new CommandLine()
    const { receipt } = await ended(line)
    const envelope = JSON.parse(readFileSync(receipt, "utf8"))
    const payload = JSON.parse(Buffer.from(envelope.payload, "base64").toString("utf8"))
    payload.outcome.exitCode = 1
    envelope.payload = Buffer.from(JSON.stringify(payload)).toString("base64")
    writeFileSync(receipt, JSON.stringify(envelope))

    const { exitCode, stdout } = await line.run(["verify", "--receipt", receipt])

    expect(exitCode).toBe(1)
    expect(stdout).toContain("INVALID")
  })

  test("knows what it does not have", async () => {
    await using line = new CommandLine()

    const none = await line.run(["verify", "abc"])
    expect(none.exitCode).toBe(1)
    expect(none.stderr).toContain("there is no journal")

    await ended(line)
    await line.run(["stop"])
    const unknown = await line.run(["verify", "2222222"])
    expect(unknown.exitCode).toBe(1)
    expect(unknown.stderr).toContain('Unknown execution: "2222222"')
  })
})
