import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { join } from "node:path"
import { CommandLine, type Finished } from "../cli/command-line.ts"
import { Service } from "../support/service.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"

const root = join(import.meta.dir, "../..")
const guide = await Bun.file(join(root, "docs/tls.md")).text()
const readme = await Bun.file(join(root, "README.md")).text()

/** Where somebody follows the guide. */
const folder = temporaryFolder()

beforeAll(() => {
  const scripts = blocks(guide, "sh")
  expect(scripts).toHaveLength(2)
  for (const script of scripts) {
    const { exitCode, stderr } = Bun.spawnSync(["sh", "-ec", script], { cwd: folder.path })
    expect(`${exitCode} ${stderr.toString()}`).toStartWith("0 ")
  }
})

afterAll(() => folder[Symbol.dispose]())

describe("docs/tls.md, command by command", () => {
  const commands = blocks(guide, "console").flatMap(commandsOf)
  const [serve = "", run = "", serveClients = "", runAsClient = ""] = commands

  test("has no others than those that follow", () => {
    expect(commands.map((command) => command.split(" ", 2).join(" "))).toEqual([
      "cc-executor serve",
      "cc-executor run",
      "cc-executor serve",
      "cc-executor run",
    ])
  })

  test("serves with a certificate, and the command line trusts its authority", async () => {
    await using service = await served(serve.replaceAll("/etc/cc-executor/", `${folder.path}/`))
    await using line = new CommandLine()

    expect(await ran(line, service, run)).toMatchObject({ exitCode: 0, stdout: systemName })
  })

  test("serves those alone who have a client's certificate", async () => {
    await using service = await served(serveClients)
    await using line = new CommandLine()

    const shown = await ran(line, service, runAsClient)
    const without = await ran(line, service, run)
    // A certificate for servers does not make its holder a client.
    const another = runAsClient.replace("alice.pem", "cert.pem").replace("alice.key", "key.pem")

    expect(shown).toMatchObject({ exitCode: 0, stdout: systemName })
    expect(without.stderr).toContain("it wants a client certificate")
    expect((await ran(line, service, another)).stderr).toContain("does not accept the client")
  })
})

test("the README's service with a certificate starts as it is written", async () => {
  const script = blocks(readme, "sh").find((block) => block.includes("--tls-cert")) ?? ""
  const [serve = ""] = commandsOf(script.replaceAll(/^(?! )/gm, "$ "))

  // To the machines around the one that runs this test it stays closed.
  await using service = await served(serve.replace("--host 0.0.0.0", "--host 127.0.0.1"))

  expect(await service.url()).toStartWith("wss://127.0.0.1:")
})

const systemName = Bun.spawnSync(["uname", "-a"]).stdout.toString()

function blocks(text: string, kind: string): string[] {
  const found = text.matchAll(new RegExp(`^\`\`\`${kind}\\n(.*?)^\`\`\`$`, "gms"))
  return [...found].map(([, block = ""]) => block)
}

/** What stands after `$`, with the lines it goes on for. */
function commandsOf(block: string): string[] {
  const found = block.matchAll(/^\$ ((?:.*\\\n)*.*)$/gm)
  return [...found].map(([, command = ""]) => command)
}

/** By a shell in the folder, with a port and a state directory of its own besides. */
function served(command: string): Promise<Service> {
  const script = command.replace("cc-executor serve", 'exec "$0" "$@"')
  expect(script).toStartWith("exec ")
  return Service.start({ prefix: ["sh", "-c", script], cwd: folder.path })
}

async function ran(line: CommandLine, service: Service, command: string): Promise<Finished> {
  const { host } = await service.listening
  const script = command.replace("cc-executor", '"$PROGRAM"').replace("127.0.0.1:8003", host)
  expect(script).toContain(host)
  return line.runOther(["sh", "-c", script], { cwd: folder.path })
}
