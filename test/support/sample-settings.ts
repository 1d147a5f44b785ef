import type { GatewaySettings } from "../../src/protocol/ipc.ts"

/** What a keeper tells its gateway, as far as a test does not care. */
export const sampleSettings: GatewaySettings = {
  stateDir: "/state",
  listen: { hosts: ["127.0.0.1"], port: 0, tls: null },
  clientCertScopes: [],
  socketPath: "/state/gateway.sock",
  journalPath: "/state/journal.sqlite",
  transcriptsPath: "/state/transcripts",
  version: "0.0.0",
  startedAt: "2026-11-16T12:00:00.000Z",
  containment: "best-effort",
  access: {
    trustsLoopback: true,
    ownUid: 1000,
    allowedHosts: [],
    allowedOrigins: [],
    maxConnectionsPerAddress: 64,
    messagesPerSecond: 1000,
    requestTimeoutMs: 30_000,
  },
  maxSessions: 100,
  maxSessionsPerPrincipal: 32,
  streamTimeoutMs: 300_000,
  maxMessageBytes: 1_048_576,
  logLevel: "info",
  policy: "everything",
  runAs: null,
  preloadMcp: false,
}
