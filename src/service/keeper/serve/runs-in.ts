import { existsSync } from "node:fs"
import type { Config } from "../../../config/config.ts"
import type { RunsIn } from "../../../protocol/gateway-settings.ts"

/**
 * Docker and Podman leave a file of theirs in every container. Who was started from a shell in one
 * has that shell at hand: only what the container was started for is reached from outside.
 */
export function runsIn({ containerName }: Pick<Config, "containerName">): RunsIn {
  if (containerName !== null) return "container"
  const isInContainer = ["/.dockerenv", "/run/.containerenv"].some((path) => existsSync(path))
  const isWhatItRuns = process.pid === 1 || process.ppid === 1
  return isInContainer && isWhatItRuns ? "container" : "machine"
}
