import { expect } from "bun:test"
import type { GuestService } from "./guest-service.ts"
import type { Machine } from "./machine.ts"

const unitCgroup = "/system.slice/cc-executor.service"

/** What systemd knows of the unit, which it tells in an order of its own. */
export async function unitFacts(
  machine: Machine,
  ...names: string[]
): Promise<Record<string, string>> {
  const text = await machine.must(`systemctl show cc-executor -p ${names.join(",")}`)
  const lines = text.trim().split("\n")
  return Object.fromEntries(lines.map((line) => line.split("=", 2)))
}

/** Names of all programs in the unit's cgroups. */
export async function programsOfUnit(machine: Machine): Promise<string[]> {
  const procs = `find /sys/fs/cgroup${unitCgroup} -name cgroup.procs -exec cat {} +`
  return (await machine.must(`ps -o comm= -p "$(${procs} | paste -sd,)"`)).trim().split("\n")
}

/** Where the processes of an execution are. */
export async function cgroupOf(
  machine: Machine,
  service: GuestService,
  id: string,
): Promise<string> {
  const { pid } = await service.until(id, "it runs", ({ state }) => state === "running")
  const path = (await machine.must(`cut -d: -f3 /proc/${pid}/cgroup`)).trim()
  expect(path).toStartWith(`${unitCgroup}/`)
  return `/sys/fs/cgroup${path}`
}

/** What the kernel counts of a cgroup's processor time. */
export function cpuStat(text: string) {
  const number = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, "m").exec(text)?.[1])
  return {
    usage_usec: number("usage_usec"),
    nr_periods: number("nr_periods"),
    nr_throttled: number("nr_throttled"),
  }
}

/** Asked from outside: a session of theirs would start their services. */
export function hasService(machine: Machine, user: string): Promise<boolean> {
  return machine.succeeds(`pgrep --uid ${user} cc-executor`)
}
