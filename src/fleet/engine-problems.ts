import type { EngineFacts } from "./engine-port.ts"

const oldest = [2, 12] as const
const fewestReplicas = 3

/** Why what the engine has acknowledged may be lost; empty when it keeps it. */
export function engineProblems({ version, replicas, servers }: EngineFacts): string[] {
  const old = servers.filter((server) => isTooOld(server.version))
  const lazy = servers.filter(({ syncsAlways }) => !syncsAlways)
  const names = (some: typeof servers) => some.map(({ name }) => name).join(", ")
  return [
    ...(isTooOld(version) ? [`the server has version ${version}: at least 2.12 is needed`] : []),
    ...(old.length > 0 ? [`older than 2.12: ${names(old)}`] : []),
    ...(replicas < fewestReplicas
      ? [`its tables have ${replicas === 1 ? "1 replica" : `${replicas} replicas`}: 3 are needed`]
      : []),
    ...(servers.length === 0
      ? ["its servers do not say how they write: import `$SYS.REQ.SERVER.PING.VARZ`"]
      : []),
    ...(lazy.length > 0 ? [`without \`sync_interval: always\`: ${names(lazy)}`] : []),
  ]
}

function isTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  return major < oldest[0] || (major === oldest[0] && minor < oldest[1])
}
