import type { MetricSample, MetricSamples } from "../../protocol/metric-samples.ts"
import type { MetricDescription } from "./text-format.ts"

type Metric = MetricDescription & {
  /** Who counts: what the keeper counts goes on when the gateway dies. */
  of: "keeper" | "gateway" | "both"
  /** Its labels. The values of each are a short list: never an id, a name or a command. */
  labels: readonly string[]
}

/** Every metric there is, in the order in which they are told. */
export const catalogue = {
  cc_executor_build_info: gauge("gateway", "Always 1; says what runs.", "version", "commit", "bun"),
  cc_executor_containment_info: gauge("gateway", "Always 1; says what holds trees.", "mode"),
  cc_executor_keeper_answered: gauge(
    "gateway",
    "1 when the keeper answered this very request, 0 when its metrics are missing here.",
  ),
  cc_executor_unready: gauge(
    "gateway",
    "1 while this reason keeps the service from taking work, as /readyz says.",
    "reason",
  ),

  cc_executor_tls_certificate_expiry_timestamp_seconds: gauge(
    "gateway",
    "When the TLS certificate in use expires, since 1970; absent without TLS.",
  ),

  cc_executor_sessions: gauge("gateway", "WebSocket sessions that are open."),
  cc_executor_sessions_limit: gauge("gateway", "How many may be open on the network."),
  cc_executor_output_readers: gauge("gateway", "Readers of output that are open, by any way."),

  cc_executor_executions: gauge("keeper", "Executions that have not ended.", "state"),
  cc_executor_executions_limit: gauge("keeper", "How many may run at once."),
  cc_executor_executions_started_total: counter("keeper", "Executions whose program ran."),
  cc_executor_executions_ended_total: counter(
    "keeper",
    "Executions that ended; those found lost at the service's start are among them.",
    "outcome",
    "cause",
  ),
  cc_executor_queue_length: gauge("keeper", "Executions that wait for a place."),
  cc_executor_queue_limit: gauge("keeper", "How many may wait."),
  cc_executor_queue_wait_seconds: histogram(
    "keeper",
    "From the request to the place, of those that waited, by the machine's clock.",
  ),
  cc_executor_execution_start_seconds: histogram(
    "keeper",
    "From the request reaching the keeper to the running program, of those that did not wait.",
  ),
  cc_executor_execution_first_output_seconds: histogram(
    "keeper",
    "From the running program to its first byte of output.",
  ),
  cc_executor_control_seconds: histogram(
    "keeper",
    "From an order reaching the keeper to its success; a CANCEL lasts until the tree is gone.",
    "type",
  ),

  cc_executor_output_taken_bytes_total: counter("keeper", "Output bytes read from programs."),
  cc_executor_output_recorded_bytes_total: counter("keeper", "Output bytes recorded.", "stream"),
  cc_executor_output_recorded_lines_total: counter("keeper", "Output lines recorded.", "stream"),
  cc_executor_output_dropped_bytes_total: counter(
    "keeper",
    "Output bytes forgotten for a budget, or never recorded.",
    "reason",
  ),
  cc_executor_output_dropped_lines_total: counter(
    "keeper",
    "Output lines forgotten for a budget, or never recorded.",
    "reason",
  ),
  cc_executor_output_read_bytes_total: counter(
    "gateway",
    "Output bytes read from transcripts for clients, once for each that gets them.",
    "via",
  ),
  cc_executor_gaps_told_total: counter("gateway", "Gaps told to readers.", "via"),
  cc_executor_gaps_told_bytes_total: counter("gateway", "Output bytes in those gaps.", "via"),
  cc_executor_gaps_told_lines_total: counter("gateway", "Output lines in those gaps.", "via"),
  cc_executor_output_delay_seconds: histogram(
    "gateway",
    "From recording a piece of output to handing it to a reader that had caught up before.",
  ),

  cc_executor_http_requests_total: counter("gateway", "HTTP requests.", "operation", "code"),
  cc_executor_http_request_seconds: histogram(
    "gateway",
    "HTTP requests; a stream counts until its beginning.",
    "operation",
  ),
  cc_executor_rpc_request_seconds: histogram(
    "gateway",
    "JSON-RPC requests over WebSockets, refused ones too; those of MCP are not among them.",
    "method",
  ),
  cc_executor_refusals_total: counter(
    "keeper",
    "Requests that were refused; repeats are counted within a second.",
    "reason",
  ),
  cc_executor_audit_lines_total: counter("keeper", "Lines written to the audit trail."),
  cc_executor_audit_lines_lost_total: counter("keeper", "Lines that could not be written to it."),

  cc_executor_gateway_restarts_total: counter(
    "keeper",
    "How often the gateway was started again.",
    "reason",
  ),
  cc_executor_transcripts_bytes: gauge("keeper", "Output that is kept.", "executions"),
  cc_executor_disk_free_bytes: gauge("keeper", "Room left on the state directory's disk."),
  cc_executor_disk_size_bytes: gauge("keeper", "Size of that disk."),

  cc_executor_event_loop_lag_seconds: histogram(
    "both",
    "How late a timer ran, which is asked four times a second.",
    "process",
  ),
  cc_executor_process_resident_memory_bytes: gauge("both", "Memory in use.", "process"),
  cc_executor_process_cpu_seconds_total: counter("both", "CPU time used.", "process"),
  cc_executor_process_open_fds: gauge("both", "File descriptors that are open.", "process"),
  cc_executor_process_max_fds: gauge("both", "How many may be open.", "process"),
  cc_executor_process_start_time_seconds: gauge("both", "When it started, since 1970.", "process"),
} as const satisfies Record<string, Metric>

export type MetricName = keyof typeof catalogue

function counter(of: Metric["of"], help: string, ...labels: string[]): Metric {
  return { type: "counter", of, help, labels }
}

function gauge(of: Metric["of"], help: string, ...labels: string[]): Metric {
  return { type: "gauge", of, help, labels }
}

function histogram(of: Metric["of"], help: string, ...labels: string[]): Metric {
  return { type: "histogram", of, help, labels }
}

/** A metric of several samples, under a name that the catalogue knows. */
export function metricSamples(name: MetricName, samples: MetricSample[]): MetricSamples {
  return { name, samples }
}

/** A metric with a single value. */
export function oneValue(
  name: MetricName,
  value: number,
  labels: Record<string, string> = {},
): MetricSamples {
  return metricSamples(name, [{ labels, value }])
}
