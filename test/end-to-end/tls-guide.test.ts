import { expect, test } from "bun:test"
import { join } from "node:path"
import { CommandLine } from "../cli/command-line.ts"
import { Service } from "../support/service.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"

const guide = join(import.meta.dir, "../../docs/tls.md")

test("the commands of docs/tls.md make certificates that can be used", async () => {
  using folder = temporaryFolder()
  const file = (name: string) => join(folder.path, name)
  const blocks = [...(await Bun.file(guide).text()).matchAll(/^```sh\n(.*?)^```$/gms)]
  for (const [, script = ""] of blocks) {
    const { exitCode, stderr } = Bun.spawnSync(["sh", "-ec", script], { cwd: folder.path })
    expect(`${exitCode} ${stderr.toString()}`).toStartWith("0 ")
  }
  await using service = await Service.start({
    flags: {
      host: "127.0.0.1",
      "tls-cert": file("cert.pem"),
      "tls-key": file("key.pem"),
      "tls-client-ca": file("ca.pem"),
    },
  })
  const url = await service.url()
  await using line = new CommandLine()
  const show = (cert: string, key: string) => {
    const where = ["--url", url, "--ca-file", file("ca.pem")]
    const who = ["--client-cert", file(cert), "--client-key", file(key)]
    return line.run(["run", ...where, ...who, "--", "echo", "hi"])
  }

  expect(blocks).toHaveLength(2)
  expect(await show("alice.pem", "alice.key")).toMatchObject({ exitCode: 0, stdout: "hi\n" })
  // A certificate for servers does not make its holder a client.
  expect((await show("cert.pem", "key.pem")).stderr).toContain("does not accept the client")
})
