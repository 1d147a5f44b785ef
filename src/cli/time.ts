import { readSize } from "../config/text-form.ts"
import { readDuration } from "../lib/duration.ts"
import { UsageFailure } from "./failure.ts"

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** How long ago, in one glance: `5s`, `3m`, `2h`, `4d`. */
export function ageText(ms: number): string {
  if (ms < minute) return `${Math.max(0, Math.floor(ms / second))}s`
  if (ms < hour) return `${Math.floor(ms / minute)}m`
  if (ms < 2 * day) return `${Math.floor(ms / hour)}h`
  return `${Math.floor(ms / day)}d`
}

/** How long it took: `0.42s`, `12.3s`, `3m04s`, `2h05m`, `3d04h`. */
export function durationText(ms: number): string {
  if (ms < 10 * second) return `${(ms / second).toFixed(2)}s`
  if (ms < minute) return `${(ms / second).toFixed(1)}s`
  if (ms < hour) return twoUnits(ms, minute, "m", second, "s")
  if (ms < day) return twoUnits(ms, hour, "h", minute, "m")
  return twoUnits(ms, day, "d", hour, "h")
}

function twoUnits(ms: number, large: number, name: string, small: number, rest: string): string {
  const count = Math.floor(ms / large)
  const remainder = Math.floor((ms % large) / small)
  return `${count}${name}${String(remainder).padStart(2, "0")}${rest}`
}

const sizeUnits = ["B", "KiB", "MiB", "GiB", "TiB"] as const

export function sizeText(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 1024 && unit < sizeUnits.length - 1) {
    value /= 1024
    unit += 1
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${sizeUnits[unit]}`
}

/** Milliseconds of a duration given as an option's value. */
export function durationOption(option: string, text: string): number {
  const ms = readDuration(text)
  if (ms !== undefined && ms > 0) return ms
  throw new UsageFailure(
    `${option}: "${text}" is not a duration: use for example 90s, 5m, 2h or 1d.`,
  )
}

export function sizeOption(option: string, text: string): number {
  const bytes = readSize(text)
  if (bytes !== undefined) return bytes
  throw new UsageFailure(
    `${option}: "${text}" is not a size: use for example 65536, 64k, 10MiB or 1GiB.`,
  )
}

export function countOption(option: string, text: string): number {
  if (/^\d{1,12}$/.test(text)) return Number(text)
  throw new UsageFailure(`${option}: "${text}" is not a number: use for example 0, 10 or 500.`)
}

/** A point in time: `10m` is ten minutes ago, else a date. */
export function timeOption(option: string, text: string, now: Date): Date {
  const agoMs = readDuration(text)
  if (agoMs !== undefined) return new Date(now.getTime() - agoMs)
  const time = new Date(text)
  if (!Number.isNaN(time.getTime())) return time
  throw new UsageFailure(
    `${option}: "${text}" is not a time: use 10m for ten minutes ago, or 2026-11-16T08:00:00Z.`,
  )
}
