import { describe, expect, test } from "bun:test"
import { chmodSync } from "node:fs"
import { join } from "node:path"
import { NotReady } from "../../src/protocol/health-report.ts"
import { methods } from "../../src/protocol/methods.ts"
import {
  type UnreadinessName,
  unreadinessReasons,
} from "../../src/service/gateway/reports/readiness.ts"
import { Authority } from "../support/certificates.ts"
import { parseMetrics } from "../support/metrics-text.ts"
import { RawSession } from "../support/raw-session.ts"
import { executable, Service } from "../support/service.ts"
import { SmallDisk } from "../support/small-disk.ts"
import { notRoot, testUnless } from "../support/test-unless.ts"
import { makeToken } from "../support/tokens.ts"
import { until } from "../support/until.ts"

/** Every reason but `shutting-down`, which shutdown.test.ts provokes. */
describe("a service that does not take work says why, in /readyz, doctor and healthcheck", () => {
  test("when every place is taken and the queue is full", async () => {
    await using service = await Service.start({
      flags: { "max-executions": "1", "max-queue": "0" },
    })
    using session = await RawSession.open(await service.url())
    const { execution_id } = await session.call("execute", { argv: ["sleep", "1000"] })

    await expectUnready(service, "queue-full")

    expect(await metric(service, 'cc_executor_unready{reason="queue-full"}')).toBe(1)
    await session.call("control", { type: "CANCEL", execution_id })
    await expectReady(service)
    expect(await metric(service, 'cc_executor_unready{reason="queue-full"}')).toBe(0)
  }, 60_000)

  test("when running executions have filled the room for transcripts", async () => {
    await using service = await Service.start({ flags: { "max-disk-bytes": "10k" } })
    using session = await RawSession.open(await service.url())
    const argv = ["sh", "-c", "head -c 20000 /dev/zero | tr '\\0' x; exec sleep 1000"]
    await session.call("execute", { argv })

    await expectUnready(service, "transcripts-full")
  }, 60_000)

  test("when the keeper does not answer, which the metrics say too", async () => {
    await using service = await Service.start()
    process.kill(service.pid, "SIGSTOP")
    try {
      await expectUnready(service, "keeper-busy")
      expect(await metric(service, "cc_executor_keeper_answered")).toBe(0)
    } finally {
      process.kill(service.pid, "SIGCONT")
    }
    await expectReady(service)
  }, 60_000)

  test("when the gateway dies again and again", async () => {
    await using service = await Service.start()
    for (let deaths = 1; deaths <= 6; deaths += 1) {
      const { gatewayPid } = service
      process.kill(gatewayPid, "SIGKILL")
      await until("another gateway answers", async () => {
        const isAnother = await pidOfGateway(service).then((pid) => pid !== gatewayPid)
        return isAnother && (await reasonsOf(service).catch(() => null)) !== null
      })
    }

    await expectUnready(service, "gateway-restarts")
    const restarts = 'cc_executor_gateway_restarts_total{reason="ended"}'
    expect(await metric(service, restarts)).toBe(6)
  }, 60_000)

  test("when the file with the tokens is open to others", async () => {
    await using service = await Service.start()
    await makeToken(service.stateDir, { name: "ci" })
    const file = join(service.stateDir, "tokens.json")

    chmodSync(file, 0o644)
    await expectUnready(service, "tokens-unreadable")

    chmodSync(file, 0o600)
    await expectReady(service)
  }, 60_000)

  test("when its certificate has expired", async () => {
    using authority = new Authority()
    const { cert, key } = authority.issue({ subject: "/CN=localhost", days: -1 })
    await using service = await Service.start({ flags: { "tls-cert": cert, "tls-key": key } })

    await expectUnready(service, "certificate-expired")
    const expiry = await metric(service, "cc_executor_tls_certificate_expiry_timestamp_seconds")
    expect(expiry).toBeLessThan(Date.now() / 1000)
  }, 60_000)

  testUnless(notRoot, "when the disk is full", async () => {
    using disk = new SmallDisk("24m")
    const flags = { ballast: "1M", "disk-floor": "1k" }
    await using service = await Service.start({ stateDir: join(disk.path, "state"), flags })
    await expectReady(service)

    disk.fill()
    await expectUnready(service, "disk-full")

    disk.empty()
    await expectReady(service)
  })

  testUnless(notRoot, "when the disk has space but no inodes", async () => {
    using disk = new SmallDisk("64m", 200)
    const flags = { "disk-floor": "0", ballast: "64k" }
    await using service = await Service.start({ stateDir: disk.path, flags })
    await expectReady(service)

    disk.fillInodes(0)
    await expectUnready(service, "inodes-used-up")

    disk.emptyInodes()
    await expectReady(service)
  })

  test("when the file descriptors for executions are used up", async () => {
    const prefix = ["sh", "-c", 'ulimit -n 64; exec "$@"', "sh"]
    await using service = await Service.start({ prefix })
    using session = await RawSession.open(await service.url())
    const started: string[] = []
    await until("no more are started", async () => {
      const request = session.request("execute", { argv: ["sleep", "1000"] })
      const answer = await session.response(request)
      if (!("error" in answer)) started.push(executionIn(answer.result))
      return "error" in answer
    })

    await expectUnready(service, "descriptors-used-up")

    for (const execution_id of started) {
      await session.call("control", { type: "CANCEL", execution_id })
    }
    await expectReady(service)
    expect(service.said.join()).toContain("The limit of 64 file descriptors is too low")
  }, 60_000)
})

function executionIn(result: unknown): string {
  return methods.execute.result.parse(result).execution_id
}

async function expectUnready(service: Service, name: UnreadinessName): Promise<void> {
  const { message, action, passes } = unreadinessReasons[name]
  const reasons = await until(`it is not ready: ${name}`, async () => {
    const found = await reasonsOf(service)
    return found.length > 0 && found
  })
  expect(reasons).toEqual([{ name, message, action, passes }])

  const doctor = await run("doctor", service)
  expect(doctor.output).toContain(`${name}: ${message}`)
  expect(doctor.output).toContain(`→ ${action}`)
  expect(doctor.exitCode).toBe(passes ? 0 : 1)
  const check = await run("healthcheck", service)
  expect(check.exitCode).toBe(passes ? 0 : 1)
  if (!passes) expect(check.output).toContain(`${name}: ${message} ${action}`)
}

async function expectReady(service: Service): Promise<void> {
  await until("it is ready", async () => (await reasonsOf(service)).length === 0)
}

/** By the unix socket: an expired certificate would be refused. */
async function local(service: Service, path: string): Promise<Response> {
  return fetch(`http://localhost${path}`, { unix: join(service.stateDir, "gateway.sock") })
}

async function reasonsOf(service: Service) {
  const response = await local(service, "/readyz")
  return response.status === 200 ? [] : NotReady.parse(await response.json()).reasons
}

async function metric(service: Service, name: string): Promise<number | undefined> {
  return parseMetrics(await (await local(service, "/metrics")).text()).get(name)
}

async function pidOfGateway(service: Service): Promise<number | null> {
  try {
    return service.gatewayPid
  } catch {
    return null // there is none at this moment
  }
}

async function run(command: string, { stateDir }: Service) {
  const ran = Bun.spawn([executable, command, "--state-dir", stateDir], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  })
  const [out, err] = await Promise.all([ran.stdout.text(), ran.stderr.text()])
  return { exitCode: await ran.exited, output: out + err }
}
