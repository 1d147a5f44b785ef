import { describe, expect } from "bun:test"
import { RawSession } from "../support/raw-session.ts"
import { Steered } from "../support/steered.ts"
import { testUnless } from "../support/test-unless.ts"
import { bearing } from "../support/tokens.ts"
import { until } from "../support/until.ts"
import { images } from "./support/images.ts"
import { Project } from "./support/project.ts"
import { imageTimeoutMs, noImages } from "./support/switch.ts"

describe("`docker compose up -d` with nothing prepared", () => {
  testUnless(
    noImages,
    "becomes healthy and greets whoever has the token it made; without it nobody gets in",
    async () => {
      await using project = Project.make(await images())

      await project.up()
      const token = await project.madeToken()
      await using client = await project.client(token)
      await using stranger = await project.client(await project.newToken())

      expect(await client.connected).toMatchObject({ capabilities: expect.any(Array) })
      expect(String(await stranger.connected.catch((error: unknown) => error))).toContain("401")
      const url = await project.url("/executions")
      expect((await fetch(url)).status).toBe(401)
      expect((await fetch(url, bearing(token))).status).toBe(200)
      expect((await fetch(await project.url("/health"))).status).toBe(200)
    },
    imageTimeoutMs,
  )

  testUnless(
    noImages,
    "says in the log of cc_executor_mcp how to show the token, and never the token",
    async () => {
      await using project = Project.make(await images())
      await project.up()
      const token = await project.madeToken()

      const logs = await project.logs()

      const show = "docker exec cc_executor_mcp cc-executor token show"
      expect(logs).toContain(
        `cc-executor: There was no token, so this service made one. To show it: ${show}\n`,
      )
      expect(logs).toContain(`"showWith":"${show}"`)
      expect(logs).not.toContain(token.slice(-30))
    },
    imageTimeoutMs,
  )

  testUnless(
    noImages,
    "publishes its port on loopback, and gives the container limits and nothing to spare",
    async () => {
      await using project = Project.make(await images())
      await project.compose("up", "--detach", "--no-build")

      const host: unknown = JSON.parse(await project.inspect("{{json .HostConfig}}"))

      expect(host).toMatchObject({
        PortBindings: { "8003/tcp": [{ HostIp: "127.0.0.1" }] },
        ReadonlyRootfs: true,
        CapDrop: ["ALL"],
        SecurityOpt: ["no-new-privileges:true"],
        Privileged: false,
        Memory: 2 * 1024 ** 3,
        NanoCpus: 1e9,
        PidsLimit: 512,
        RestartPolicy: { Name: "unless-stopped" },
      })
    },
    imageTimeoutMs,
  )

  testUnless(
    noImages,
    "finds everything again after `down` and `up`: the token, records, receipts that verify",
    async () => {
      await using project = Project.make(await images())
      await project.up()
      const token = await project.madeToken()
      const argv = ["/usr/local/bin/cc-executor", "version"]
      const first = await run(project, token, argv)
      expect(first.text).toContain("cc-executor")

      await project.compose("down")
      await project.up()

      expect(await project.madeToken()).toBe(token)
      await using client = await project.client(token)
      const again = new Steered(client, await client.attach(first.id))
      expect(await again.ended()).toMatchObject({ outcome: "exited", exit_code: 0 })
      expect(again.text).toBe(first.text)
      expect(await again.receipt()).toEqual(first.receipt)
      const verified = await client.call("transcript.verify", { execution_id: first.id })
      expect(verified).toMatchObject({ verified: true })
    },
    imageTimeoutMs,
  )
})

describe("with compose.secret.yaml", () => {
  testUnless(
    noImages,
    "the service lets in whoever has the secret, and makes no token",
    async () => {
      const { project: secretive, token } = await Project.withSecret(await images())
      await using project = secretive

      await project.up()

      const url = await project.url("/executions")
      expect((await fetch(url)).status).toBe(401)
      expect((await fetch(url, bearing(token))).status).toBe(200)
      const shown = await project.madeToken().catch((error: unknown) => error)
      expect(String(shown)).toContain("No service has made a token")
    },
    imageTimeoutMs,
  )

  testUnless(
    noImages,
    "another token in the file counts at once, and the sessions of the one before end",
    async () => {
      const { project: secretive, token: before } = await Project.withSecret(await images())
      await using project = secretive
      const after = await project.newToken()
      await project.up()
      const url = await project.url("/executions")
      const socket = url.replace("http", "ws").replace("/executions", "/ws/mcp")
      using session = await RawSession.open(socket, bearing(before))

      project.put(after)

      await until("the new token is taken", async () => {
        return (await fetch(url, bearing(after))).status === 200
      })
      expect((await fetch(url, bearing(before))).status).toBe(401)
      expect(await session.closed).toMatchObject({ code: 1008, reason: "UNAUTHORIZED" })
    },
    imageTimeoutMs,
  )
})

async function run(project: Project, token: string, argv: string[]) {
  await using client = await project.client(token)
  const execution = await Steered.start(client, { argv })
  await execution.ended()
  const { id, text } = execution
  return { id, text, receipt: await execution.receipt() }
}
