import { describe, expect } from "bun:test"
import { RawSession } from "../support/raw-session.ts"
import { Steered } from "../support/steered.ts"
import { testUnless } from "../support/test-unless.ts"
import { bearing } from "../support/tokens.ts"
import { until } from "../support/until.ts"
import { images } from "./support/images.ts"
import { Project } from "./support/project.ts"
import { imageTimeoutMs, noImages } from "./support/switch.ts"

describe("`docker compose up -d`", () => {
  testUnless(
    noImages,
    "becomes healthy and greets whoever has the token; without it nobody gets in",
    async () => {
      await using project = await Project.make(await images())
      const token = await project.newToken()
      project.put(token)

      await project.up()
      await using client = await project.client(token)
      await using stranger = await project.client(await project.newToken())

      expect(await client.connected).toMatchObject({ capabilities: expect.any(Array) })
      expect(String(await stranger.connected.catch((error: unknown) => error))).toContain("401")
      const url = await project.url("/executions")
      expect((await fetch(url)).status).toBe(401)
      expect((await fetch(url, bearing(token))).status).toBe(200)
    },
    imageTimeoutMs,
  )

  testUnless(
    noImages,
    "gives the container nothing that it can do without, and limits",
    async () => {
      await using project = await Project.make(await images())
      await project.compose("up", "--detach", "--no-build")

      const host: unknown = JSON.parse(await project.inspect("{{json .HostConfig}}"))

      expect(host).toMatchObject({
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
    "heeds another token in the secret's file at once, and ends the sessions of the one before",
    async () => {
      await using project = await Project.make(await images())
      const [before, after] = [await project.newToken(), await project.newToken()]
      project.put(before)
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

  testUnless(
    noImages,
    "finds everything again after `down` and `up`: records, output, receipts that verify",
    async () => {
      await using project = await Project.make(await images())
      const token = await project.newToken()
      project.put(token)
      await project.up()
      const argv = ["/usr/local/bin/cc-executor", "version"]
      const first = await run(project, token, argv)
      expect(first.text).toContain("cc-executor")

      await project.compose("down")
      await project.up()

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

async function run(project: Project, token: string, argv: string[]) {
  await using client = await project.client(token)
  const execution = await Steered.start(client, { argv })
  await execution.ended()
  const { id, text } = execution
  return { id, text, receipt: await execution.receipt() }
}
