/** How a check is run, so that its transcript shows by itself where it began, ended, and how. */

/** In the environment of the check, and of nothing else. */
export const markerVariable = "CC_EXECUTOR_MARKER"

/** Fresh for every step; nobody is told before the trial's end. */
export function newMarker(now: Date, random: string): string {
  const [date = "", time = ""] = now.toISOString().split("T")
  return `MARKER_${date.replaceAll("-", "")}_${time.slice(0, 8).replaceAll(":", "")}_${random}`
}

export function isMarker(text: string): boolean {
  return /^MARKER_\d{8}_\d{6}_[a-z2-7]+$/.test(text)
}

const script = `printf '%s begin\\n' "$${markerVariable}"
bash -e -c "$1"
status=$?
printf '%s end exit %d\\n' "$${markerVariable}" "$status"
exit "$status"`

/** The marker is not among the words: those are recorded, and anybody on the machine sees them. */
export function checkArgv(run: string): string[] {
  return ["bash", "-c", script, "cc-executor-check", run]
}

/** What `checkArgv` was made of; null for any other words. */
export function checkIn(argv: readonly string[]): string | null {
  const run = argv.at(-1) ?? ""
  const words = checkArgv(run)
  const isCheck = argv.length === words.length && words.every((word, at) => word === argv[at])
  return isCheck ? run : null
}

/** So much of the end of a transcript is looked at; a check's leftovers may write after its end. */
export const judgedTailBytes = 64 * 1024

/** What the last end that stands there says, beside the exit that the receipt has. */
export function markerFound(
  tail: string,
  marker: string,
  exitCode: number | null,
): "seen" | "none" | "other-exit" {
  const end = `${marker} end exit `
  const at = tail.lastIndexOf(end)
  if (at < 0) return "none"
  const said = /^(\d{1,3})\r?\n/.exec(tail.slice(at + end.length))?.[1]
  if (said === undefined) return "none"
  return Number(said) === exitCode ? "seen" : "other-exit"
}
