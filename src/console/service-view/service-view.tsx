import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import type { z } from "zod"
import { messageOf } from "../../lib/errno.ts"
import { onOneLine } from "../../lib/harmless-text.ts"
import { ignoreUnhandledRejection } from "../../lib/ignore-unhandled-rejection.ts"
import { Health, History, NotReady } from "../../protocol/health-report.ts"
import { request } from "../access/api.ts"
import { useConsole } from "../live/use-console.ts"
import { bytesText, countText, durationText } from "../parts/format.ts"
import { lazily } from "../parts/lazily.tsx"

const Plot = lazily(async () => (await import("../parts/plot.tsx")).Plot)

const lookEveryMs = 5_000

type Facts = { health: Health; history: z.infer<typeof History> | null; reasons: readonly Reason[] }
type Reason = z.infer<typeof NotReady>["reasons"][number]

/** Whether the service is well, as far as the caller may know. */
export function ServiceView() {
  const { isAdmin, greeting } = useConsole()
  const facts = useSignal<Facts | null>(null)
  const failure = useSignal<string | null>(null)
  const mayPlot = greeting.value?.scopes?.some((scope) => scope === "metrics" || scope === "admin")
  useEffect(() => {
    const look = async () => {
      const [health, reasons, history] = await Promise.all([
        request("GET", "/health"),
        readiness(),
        mayPlot === true ? request("GET", "/history") : null,
      ])
      facts.value = {
        health: Health.parse(health),
        history: history === null ? null : History.parse(history),
        reasons,
      }
      failure.value = null
    }
    const lookNow = () => {
      if (document.hidden && facts.value !== null) return
      ignoreUnhandledRejection(look().catch((error: unknown) => (failure.value = messageOf(error))))
    }
    lookNow()
    const timer = window.setInterval(lookNow, lookEveryMs)
    return () => window.clearInterval(timer)
  }, [mayPlot])
  const known = facts.value
  return (
    <>
      <h1>Service</h1>
      {failure.value !== null && <p role="alert">{failure.value}</p>}
      {known === null ? (
        <p class="quiet">Loading…</p>
      ) : (
        <>
          <Readiness reasons={known.reasons} />
          {"version" in known.health && <HealthFacts health={known.health} />}
          {!isAdmin.value && <p class="quiet">More is told to who has the scope `admin`.</p>}
          {known.history !== null && <Plots history={known.history} />}
        </>
      )}
    </>
  )
}

async function readiness(): Promise<readonly Reason[]> {
  const unready = NotReady.safeParse(await (await fetch("/readyz")).json())
  return unready.success ? unready.data.reasons : []
}

function Readiness({ reasons }: { reasons: readonly Reason[] }) {
  if (reasons.length === 0) return <p class="state good">It accepts work.</p>
  return (
    <>
      <p class="state bad">It does not accept work.</p>
      <ul>
        {reasons.map(({ name, message, action }) => (
          <li key={name}>
            {onOneLine(message)} {onOneLine(action)}
          </li>
        ))}
      </ul>
    </>
  )
}

function HealthFacts({ health }: { health: Extract<Health, { version: string }> }) {
  const { rss_bytes: memory } = health
  const live = Object.entries(health.executions).map(([state, count]) => `${count} ${state}`)
  const facts = [
    ["Version", health.version],
    ["Runs for", durationText(health.uptime_s * 1000)],
    ["Gateway runs for", durationText(health.gateway_uptime_s * 1000)],
    ["Executions", live.length === 0 ? "none" : live.join(", ")],
    ["Sessions", countText(health.sessions)],
    ["Memory of the keeper", memory.keeper === null ? "unknown" : bytesText(memory.keeper)],
    ["Memory of the gateway", memory.gateway === null ? "unknown" : bytesText(memory.gateway)],
    ["Processes are held by", health.containment],
  ]
  return (
    <section class="record">
      <dl>
        {facts.map(([name, text]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

const megabyte = 1_000_000

function Plots({ history: { samples, every_s } }: { history: z.infer<typeof History> }) {
  const [first] = samples
  if (first === undefined || samples.length < 2) {
    return (
      <p class="quiet">
        Plots begin half a minute after the gateway: a sample is taken every {every_s} seconds.
      </p>
    )
  }
  const times = samples.map(({ at }) => Date.parse(at) / 1000)
  const mega = (bytes: number | null) => (bytes === null ? null : bytes / megabyte)
  const rate = (of: "output_bytes" | "dropped_bytes") =>
    samples.map((sample, index) => {
      const [now, before] = [sample[of], samples[index - 1]?.[of] ?? null]
      return now === null || before === null ? null : (now - before) / every_s / megabyte
    })
  return (
    <>
      <h2>Memory, in megabytes</h2>
      <Plot
        times={times}
        lines={[
          { label: "keeper", values: samples.map((one) => mega(one.rss_bytes.keeper)) },
          { label: "gateway", values: samples.map((one) => mega(one.rss_bytes.gateway)) },
        ]}
      />
      <h2>Output, in megabytes a second</h2>
      <Plot
        times={times}
        lines={[
          { label: "written", values: rate("output_bytes") },
          { label: "dropped", values: rate("dropped_bytes") },
        ]}
      />
      <h2>Executions and sessions</h2>
      <Plot
        times={times}
        lines={[
          { label: "executions", values: samples.map((one) => one.executions) },
          { label: "sessions", values: samples.map((one) => one.sessions) },
        ]}
      />
    </>
  )
}
