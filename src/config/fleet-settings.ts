import { settingsIn } from "./setting.ts"
import {
  absolutePath,
  autoOr,
  boolean,
  duration,
  orNever,
  orNone,
  type TextForm,
  textForm,
} from "./text-form.ts"

const fleet = settingsIn("Fleet")

/** How a service joins others; without `fleet` it is alone, and none of these means anything. */
export const fleetSettings = {
  fleet: fleet(orNone(engineServers()), {
    example: "tls://10.0.0.1:4222,tls://10.0.0.2:4222",
    description: "NATS servers of the fleet to join: see docs/fleet.md.",
  }),
  nodeName: fleet(autoOr(nodeNames()), {
    defaultText: "auto",
    example: "worker-1",
    description: "This node's name in the fleet, as its certificate has it; `auto` is the host's.",
  }),
  nodeLabels: fleet(orNone(nodeLabels()), {
    example: "gpu=true,zone=b",
    description: "Labels of this node, for `run --on`.",
  }),
  advertise: fleet(orNone(hostAndPort()), {
    example: "10.0.0.7:8004",
    description: "Where the other nodes reach this one: its listener for nodes, always with TLS.",
  }),
  fleetCredentials: fleet(orNone(absolutePath()), {
    example: "/etc/cc-executor/node.nk",
    description: "The NKey seed with which this node signs in to the NATS servers.",
  }),
  fleetCa: fleet(orNone(absolutePath()), {
    example: "/etc/cc-executor/fleet-ca.pem",
    description: "The authority (PEM) that has signed the certificates of all nodes.",
  }),
  fleetCert: fleet(orNone(absolutePath()), {
    example: "/etc/cc-executor/node.pem",
    description: "This node's certificate (PEM); its common name is the node's name.",
  }),
  fleetKey: fleet(orNone(absolutePath()), {
    example: "/etc/cc-executor/node-key.pem",
    description: "The key of `--fleet-cert` (PEM, not encrypted).",
  }),
  fleetLostAfterMs: fleet(orNever(duration({ min: "2s", max: "30d" })), {
    defaultText: "60s",
    example: "5m",
    description: "Silence after which a node's executions are declared lost; or `never`.",
  }),
  fleetUnsafe: fleet(boolean(), {
    defaultText: "false",
    example: "true",
    description:
      "Joins NATS servers that may lose what they have acknowledged, or are reached without TLS.",
  }),
}

const nodeNamePattern = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

function nodeNames(): TextForm<string> {
  const allowed = "a node name: 1 to 63 lower-case letters, digits and inner dashes"
  return textForm("<name>", allowed, (text) => (nodeNamePattern.test(text) ? text : undefined))
}

function engineServers(): TextForm<string[]> {
  const allowed = "addresses like nats://host:4222 or tls://host:4222, separated by commas"
  return textForm("<addresses>", allowed, (text) => {
    const servers = text.split(",").map((one) => one.trim())
    return servers.every(isServer) && sameScheme(servers) ? servers : undefined
  })
}

function isServer(address: string): boolean {
  const url = /^(?:nats|tls):\/\/[^/@?#]+$/.test(address) ? URL.parse(address) : null
  return url !== null && url.hostname !== ""
}

/** The client speaks TLS to all of them or to none. */
function sameScheme(servers: string[]): boolean {
  return new Set(servers.map((server) => server.split(":")[0])).size === 1
}

const labelPattern = /^([A-Za-z0-9][\w./-]{0,62})=([\w./-]{0,63})$/

function nodeLabels(): TextForm<Record<string, string>> {
  const allowed = "labels like key=value, separated by commas; `node` is the node's own"
  return textForm("<labels>", allowed, (text) => {
    const found = text.split(",").map((one) => labelPattern.exec(one.trim()))
    const labels = new Map(found.map((parts) => [parts?.[1] ?? "", parts?.[2] ?? ""]))
    const areGood = !labels.has("") && !labels.has("node") && labels.size === found.length
    return areGood ? Object.fromEntries(labels) : undefined
  })
}

function hostAndPort(): TextForm<{ host: string; port: number }> {
  return textForm("<host:port>", "a host and a port, like 10.0.0.7:8004", (text) => {
    const parts = /^([\w.-]+|\[[0-9a-fA-F:.]+\]):(\d{1,5})$/.exec(text)
    const port = Number(parts?.[2] ?? Number.NaN)
    if (parts?.[1] === undefined || !(port <= 65_535)) return undefined
    return { host: parts[1].replace(/^\[(.*)\]$/, "$1"), port }
  })
}
