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
  cc_executor_build_info: gauge(
    "gateway",
    "Always 1; the labels say what is running.",
    "version",
    "commit",
    "bun",
  ),
  cc_executor_containment_info: gauge(
    "gateway",
    "Always 1; the label says how process trees are tracked.",
    "mode",
  ),
  cc_executor_keeper_answered: gauge(
    "gateway",
    "1 if the keeper answered this request, 0 if its metrics are missing here.",
  ),
  cc_executor_unready: gauge(
    "gateway",
    "1 while this reason keeps the service from accepting work, as in /readyz.",
    "reason",
  ),

  cc_executor_tls_certificate_expiry_timestamp_seconds: gauge(
    "gateway",
    "When the TLS certificate in use expires, in Unix time; absent without TLS.",
  ),

  cc_executor_sessions: gauge("gateway", "Open WebSocket sessions."),
  cc_executor_sessions_limit: gauge("gateway", "Maximum number of network sessions."),
  cc_executor_output_readers: gauge("gateway", "Open readers of output, over any transport."),

  cc_executor_executions: gauge("keeper", "Executions that have not ended yet.", "state"),
  cc_executor_executions_limit: gauge("keeper", "Maximum number of running executions."),
  cc_executor_executions_started_total: counter("keeper", "Executions whose program was started."),
  cc_executor_executions_ended_total: counter(
    "keeper",
    "Executions that ended, including those found lost when the service started.",
    "outcome",
    "cause",
  ),
  cc_executor_queue_length: gauge("keeper", "Executions waiting in the queue."),
  cc_executor_queue_limit: gauge("keeper", "Maximum length of the queue."),
  cc_executor_queue_wait_seconds: histogram(
    "keeper",
    "Time spent in the queue, for executions that were queued, by the machine's clock.",
  ),
  cc_executor_execution_start_seconds: histogram(
    "keeper",
    "From the request reaching the keeper to the running program, if it was not queued.",
  ),
  cc_executor_execution_first_output_seconds: histogram(
    "keeper",
    "From the start of the program to its first byte of output.",
  ),
  cc_executor_control_seconds: histogram(
    "keeper",
    "From a request reaching the keeper to its success; CANCEL lasts until the tree is gone.",
    "type",
  ),

  cc_executor_output_taken_bytes_total: counter("keeper", "Output bytes read from programs."),
  cc_executor_output_recorded_bytes_total: counter("keeper", "Output bytes recorded.", "stream"),
  cc_executor_output_recorded_lines_total: counter("keeper", "Output lines recorded.", "stream"),
  cc_executor_output_dropped_bytes_total: counter(
    "keeper",
    "Output bytes dropped by a budget, or never recorded.",
    "reason",
  ),
  cc_executor_output_dropped_lines_total: counter(
    "keeper",
    "Output lines dropped by a budget, or never recorded.",
    "reason",
  ),
  cc_executor_output_read_bytes_total: counter(
    "gateway",
    "Output bytes read from transcripts for clients, counted once per client.",
    "via",
  ),
  cc_executor_gaps_told_total: counter("gateway", "Gaps reported to readers.", "via"),
  cc_executor_gaps_told_bytes_total: counter("gateway", "Output bytes in those gaps.", "via"),
  cc_executor_gaps_told_lines_total: counter("gateway", "Output lines in those gaps.", "via"),
  cc_executor_output_delay_seconds: histogram(
    "gateway",
    "From recording a piece of output to sending it to a reader that had caught up.",
  ),

  cc_executor_http_requests_total: counter("gateway", "HTTP requests.", "operation", "code"),
  cc_executor_http_request_seconds: histogram(
    "gateway",
    "Duration of HTTP requests; for a stream, until it begins.",
    "operation",
  ),
  cc_executor_rpc_request_seconds: histogram(
    "gateway",
    "Duration of JSON-RPC requests over WebSocket, including refused ones, excluding MCP.",
    "method",
  ),
  cc_executor_refusals_total: counter(
    "keeper",
    "Refused requests; repeats are added within a second.",
    "reason",
  ),
  cc_executor_audit_lines_total: counter("keeper", "Lines written to the audit trail."),
  cc_executor_audit_lines_lost_total: counter(
    "keeper",
    "Lines that could not be written to the audit trail.",
  ),

  cc_executor_trials_judged_total: counter("keeper", "Trials that were judged.", "verdict"),
  cc_executor_notifications_pending: gauge(
    "keeper",
    "Messages that wait for a target to take them.",
    "target",
  ),
  cc_executor_notification_attempts_total: counter(
    "keeper",
    "Attempts to deliver a message to a target.",
    "target",
    "result",
  ),
  cc_executor_notifications_settled_total: counter(
    "keeper",
    "Messages that were delivered to a target, or given up.",
    "target",
    "outcome",
  ),
  cc_executor_gateway_restarts_total: counter("keeper", "Gateway restarts.", "reason"),
  cc_executor_transcripts_bytes: gauge("keeper", "Size of the output that is kept.", "executions"),
  cc_executor_disk_free_bytes: gauge("keeper", "Free space on the state directory's disk."),
  cc_executor_disk_size_bytes: gauge("keeper", "Size of the state directory's disk."),

  cc_executor_event_loop_lag_seconds: histogram(
    "both",
    "How late a timer fired, sampled four times a second.",
    "process",
  ),
  cc_executor_process_resident_memory_bytes: gauge("both", "Memory in use.", "process"),
  cc_executor_process_cpu_seconds_total: counter("both", "CPU time used.", "process"),
  cc_executor_process_open_fds: gauge("both", "Open file descriptors.", "process"),
  cc_executor_process_max_fds: gauge("both", "Maximum number of open file descriptors.", "process"),
  cc_executor_process_start_time_seconds: gauge(
    "both",
    "When the process started, in Unix time.",
    "process",
  ),
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

export function oneValue(
  name: MetricName,
  value: number,
  labels: Record<string, string> = {},
): MetricSamples {
  return metricSamples(name, [{ labels, value }])
}
