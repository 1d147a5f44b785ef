import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { promtool } from "../../scripts/promtool.ts"
import { ExecutionView } from "../../src/protocol/execution-view.ts"
import { methods } from "../../src/protocol/methods.ts"
import { catalogue } from "../../src/service/metrics/catalogue.ts"
import { refusalOf } from "../support/http-talk.ts"
import { parseMetrics } from "../support/metrics-text.ts"
import { notifyDeedTargets } from "../support/notify-deeds.ts"
import { RawSession } from "../support/raw-session.ts"
import { Service } from "../support/service.ts"
import { testUnless } from "../support/test-unless.ts"
import { bearing, makeToken } from "../support/tokens.ts"
import { until } from "../support/until.ts"
import { upgraded } from "../support/upgraded.ts"

describe("after work that is known to the byte", () => {
  const targets = notifyDeedTargets()
  let service: Service
  let before: Map<string, number>

  beforeAll(async () => {
    service = await Service.start({ flags: { ...targets.flags, "max-executions": "1" } })
    using session = await RawSession.open(await service.url())
    await session.run({ argv: ["printf", "one\\ntwo\\n"] })
    await session.run({ argv: ["sh", "-c", "echo wrong >&2; exit 1"] })
    const { execution_id } = await session.call("execute", { argv: ["sleep", "1000"] })
    const queued = await session.call("execute", { argv: ["true"] })
    expect((await scrape(service)).get("cc_executor_queue_length")).toBe(1)
    await session.call("control", { type: "PAUSE", execution_id })
    expect((await scrape(service)).get('cc_executor_executions{state="paused"}')).toBe(1)
    await session.call("control", { type: "RESUME", execution_id })
    await session.call("control", { type: "CANCEL", execution_id })
    await session.heard("process.completed", queued.execution_id)
    const dropping = await runUnseen(service, ["seq", "1", "5000"], { bytes: 1024 })
    await session.call("attach", { execution_id: dropping, from: "start" })
    await session.heard("process.completed", dropping)
    expect(session.allHeard("process.gap", dropping)).toHaveLength(1)
    await session.refused("status", { execution_id: "a".repeat(26) })
    before = await until("all of it is counted", async () => {
      const counted = await scrape(service)
      return counted.get('cc_executor_refusals_total{reason="PROCESS_NOT_FOUND"}') === 1 && counted
    })
  })

  afterAll(async () => {
    await service[Symbol.asyncDispose]()
    targets[Symbol.dispose]()
  })

  test("executions are told by how they ended", () => {
    const ended = (outcome: string, cause: string) =>
      before.get(`cc_executor_executions_ended_total{outcome="${outcome}",cause="${cause}"}`)

    expect(ended("exited", "zero")).toBe(3)
    expect(ended("exited", "nonzero")).toBe(1)
    expect(ended("stopped", "client")).toBe(1)
    expect(ended("lost", "service-ended")).toBe(0)
    expect(before.get("cc_executor_executions_started_total")).toBe(5)
    const live = [...before].filter(([name]) => name.startsWith("cc_executor_executions{"))
    expect(live.map(([, count]) => count)).toEqual([0, 0, 0, 0, 0, 0])
  })

  test("output is told to the byte and the line, and what was dropped of it", () => {
    const numbers = Array.from({ length: 5000 }, (_, index) => `${index + 1}\n`).join("")
    const stdout = numbers.length + "one\ntwo\n".length

    expect(before.get("cc_executor_output_taken_bytes_total")).toBe(stdout + 6)
    expect(before.get('cc_executor_output_recorded_bytes_total{stream="stdout"}')).toBe(stdout)
    expect(before.get('cc_executor_output_recorded_lines_total{stream="stdout"}')).toBe(5002)
    expect(before.get('cc_executor_output_recorded_bytes_total{stream="stderr"}')).toBe(6)
    expect(before.get('cc_executor_output_recorded_lines_total{stream="stderr"}')).toBe(1)
    const droppedBytes = before.get('cc_executor_output_dropped_bytes_total{reason="budget"}') ?? 0
    const droppedLines = before.get('cc_executor_output_dropped_lines_total{reason="budget"}') ?? 0
    const kept = numbers.slice(droppedBytes)
    expect(kept.length).toBeLessThanOrEqual(1024)
    expect(kept.split("\n").length - 1).toBe(5000 - droppedLines)
    expect(before.get('cc_executor_output_dropped_bytes_total{reason="unrecorded"}')).toBe(0)
    const retained = stdout + 6 - droppedBytes
    expect(before.get('cc_executor_transcripts_bytes{executions="ended"}')).toBe(retained)
  })

  test("gaps are told as they were told to the client", () => {
    const dropped = (unit: string) =>
      before.get(`cc_executor_output_dropped_${unit}_total{reason="budget"}`)
    const gap = (unit: string) => before.get(`cc_executor_gaps_told${unit}_total{via="websocket"}`)

    expect(gap("")).toBe(1)
    expect(gap("_bytes")).toBe(dropped("bytes"))
    expect(gap("_lines")).toBe(dropped("lines"))
    const recorded = before.get('cc_executor_output_recorded_bytes_total{stream="stdout"}') ?? 0
    const sent = recorded + "wrong\n".length - (dropped("bytes") ?? 0)
    expect(before.get('cc_executor_output_read_bytes_total{via="websocket"}')).toBe(sent)
    expect(before.get('cc_executor_output_read_bytes_total{via="http"}')).toBe(0)
  })

  test("what took time is in histograms, once each", () => {
    const counted = (name: string) => before.get(`cc_executor_${name}`)

    expect(counted("execution_start_seconds_count")).toBe(4)
    expect(counted("queue_wait_seconds_count")).toBe(1)
    expect(counted("execution_first_output_seconds_count")).toBe(3)
    expect(counted('control_seconds_count{type="PAUSE"}')).toBe(1)
    expect(counted('control_seconds_count{type="RESUME"}')).toBe(1)
    expect(counted('control_seconds_count{type="CANCEL"}')).toBe(1)
    expect(counted('control_seconds_count{type="SIGNAL"}')).toBe(0)
    expect(counted('rpc_request_seconds_count{method="execute"}')).toBe(4)
    expect(counted('http_requests_total{operation="execute",code="201"}')).toBe(1)
    expect(counted('rpc_request_seconds_count{method="control"}')).toBe(3)
    expect(counted('http_requests_total{operation="metrics",code="200"}')).toBeGreaterThan(0)
  })

  test("both processes tell what they take", async () => {
    for (const process of ["keeper", "gateway"]) {
      const lag = `cc_executor_event_loop_lag_seconds_count{process="${process}"}`
      const counted = await until("the event loop was looked at", async () => {
        const now = await scrape(service)
        return (now.get(lag) ?? 0) > 0 && now
      })
      const of = (name: string) => counted.get(`cc_executor_${name}{process="${process}"}`) ?? 0
      expect(of("process_resident_memory_bytes")).toBeGreaterThan(10_000_000)
      expect(of("process_open_fds")).toBeGreaterThan(5)
      expect(of("process_max_fds")).toBeGreaterThan(of("process_open_fds"))
      expect(of("process_cpu_seconds_total")).toBeGreaterThan(0)
    }
  })

  test("every metric of the catalogue is there, and no other", async () => {
    const types = [...(await page(service)).matchAll(/^# TYPE (\S+) (\S+)$/gm)]
    const told = types.map(([, name, type]) => `${name} ${type}`)
    const known = Object.entries(catalogue).map(([name, { type }]) => `${name} ${type}`)
    const expected = known.filter((one) => !one.startsWith("cc_executor_tls_")) // there is no TLS
    expect(told).toEqual(expected)
  })

  testUnless(promtool() === null ? "no promtool" : null, "promtool finds no fault", async () => {
    const checked = Bun.spawn([promtool() ?? "", "check", "metrics", "--extended"], {
      stdin: new Blob([await page(service)]),
      stdout: "pipe",
      stderr: "pipe",
    })
    const said = await checked.stderr.text()
    expect([await checked.exited, said]).toEqual([0, ""])
  })

  test("a killed gateway costs the gateway's counts, and none of the keeper's", async () => {
    const { gatewayPid } = service
    process.kill(gatewayPid, "SIGKILL")
    const after = await until("the next gateway answers", async () => {
      const counted = await scrape(service).catch(() => null)
      return counted?.get('cc_executor_gateway_restarts_total{reason="ended"}') === 1 && counted
    })

    const keepers = Object.entries(catalogue).filter(([, { type, of }]) => {
      return of === "keeper" && type === "counter"
    })
    const same = keepers.map(([name]) => name).filter((name) => !name.includes("gateway_restarts"))
    for (const [name, value] of before) {
      const isKept = same.some((one) => name.startsWith(one))
      if (isKept) expect([name, after.get(name)]).toEqual([name, value])
    }
    expect(after.get('cc_executor_gaps_told_total{via="websocket"}')).toBe(0)
    expect(after.get('cc_executor_rpc_request_seconds_count{method="execute"}')).toBeUndefined()
  })
})

describe("after an upgrade in place", () => {
  test("counts begin anew, without what the program before has counted", async () => {
    await using service = await Service.start()
    using session = await RawSession.open(await service.url())
    const script = "seq 1 5000; read line; seq 1 1000; exec sleep 1000"
    const { execution_id } = await session.call("execute", {
      argv: ["sh", "-c", script],
      stdin: "pipe",
      budget: { bytes: 4096 },
    })
    await recorded(service, 23_893)
    const droppedBefore = (await viewOf(service, execution_id)).dropped

    await upgraded(service)
    const begun = await scrape(service)
    await fetch(await service.url(`/executions/${execution_id}/input`), {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ data: "go\n" }),
    })
    const after = await recorded(service, 3893)

    expect(begun.get('cc_executor_output_recorded_bytes_total{stream="stdout"}')).toBe(0)
    expect(begun.get('cc_executor_output_dropped_bytes_total{reason="budget"}')).toBe(0)
    expect(begun.get('cc_executor_executions{state="running"}')).toBe(1)
    expect(begun.get("cc_executor_executions_started_total")).toBe(0)
    const dropped = after.get('cc_executor_output_dropped_bytes_total{reason="budget"}')
    const droppedAfter = (await viewOf(service, execution_id)).dropped
    expect(droppedBefore.bytes).toBeGreaterThan(0)
    expect(dropped).toBe(droppedAfter.bytes - droppedBefore.bytes)
    expect(after.get('cc_executor_output_recorded_lines_total{stream="stdout"}')).toBe(1000)
  }, 60_000)

  async function recorded(service: Service, bytes: number): Promise<Map<string, number>> {
    return until(`${bytes} bytes are recorded`, async () => {
      const counted = await scrape(service)
      const now = counted.get('cc_executor_output_recorded_bytes_total{stream="stdout"}')
      return now === bytes && counted
    })
  }
})

describe("who may read the metrics", () => {
  test("is the local user, an admin, and a token made for it, which may nothing else", async () => {
    await using service = await Service.start({ env: { CC_EXECUTOR_REQUIRE_TOKEN: "true" } })
    const tokenFor = (scope: string) => makeToken(service.stateDir, { name: "any", scope })
    const ask = async (scope: string, path = "/metrics") =>
      fetch(await service.url(path), bearing(await tokenFor(scope)))

    expect((await ask("metrics")).status).toBe(200)
    expect((await ask("metrics")).headers.get("content-type")).toBe(
      "text/plain; version=0.0.4; charset=utf-8",
    )
    expect((await ask("admin")).status).toBe(200)
    const refused = await refusalOf(await ask("execute,control,read"))
    expect([refused.status, refused.reason]).toEqual([403, "FORBIDDEN"])
    expect((await ask("metrics", "/executions")).status).toBe(403)
    expect(await (await ask("metrics", "/health")).json()).toEqual({ status: "ok" })
    expect((await fetch(await service.url("/metrics"))).status).toBe(401)
    const socket = { unix: `${service.stateDir}/gateway.sock` }
    expect((await fetch("http://localhost/metrics", socket)).status).toBe(200)
  })
})

/** Nobody reads its output, so nobody can be told of a gap in it while it runs. */
async function runUnseen(service: Service, argv: string[], budget: object): Promise<string> {
  const started = await fetch(await service.url("/executions"), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ argv, budget }),
  })
  const { execution_id } = methods.execute.result.parse(await started.json())
  await until("it has ended", async () => {
    return (await viewOf(service, execution_id)).state === "ended"
  })
  return execution_id
}

async function viewOf(service: Service, executionId: string): Promise<ExecutionView> {
  const status = await fetch(await service.url(`/executions/${executionId}`))
  return ExecutionView.parse(await status.json())
}

async function page(service: Service): Promise<string> {
  const response = await fetch(await service.url("/metrics"))
  if (response.status !== 200) throw new Error(`no metrics: ${await response.text()}`)
  return response.text()
}

async function scrape(service: Service): Promise<Map<string, number>> {
  return parseMetrics(await page(service))
}
