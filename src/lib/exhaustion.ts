import { errnoOf } from "./errno.ts"

/** What has run out, by the error that says so, and what to do about it. */
const shortages: Readonly<Record<string, string>> = {
  EMFILE:
    "the service has no file descriptor left: raise its limit with `ulimit -n` or LimitNOFILE",
  ENFILE: "the system has no file descriptor left: raise fs.file-max",
  ENOMEM: "there is not enough memory, on the machine or within the service's own limit",
  EAGAIN:
    "no more processes can be started: raise the limit on them (`ulimit -u`, TasksMax, pids.max)",
}

/** What an error number says has run out; null when it says something else. */
export function shortageOf(errno: string | null): string | null {
  return errno !== null && Object.hasOwn(shortages, errno) ? (shortages[errno] ?? null) : null
}

/**
 * Whether something failed only because the machine, or a limit on this process, had no more to
 * give: then the same may work in a moment.
 */
export function isShortage(error: unknown): boolean {
  const errno = errnoOf(error)
  return shortageOf(errno) !== null || errno === "ENOSPC" || errno === "EDQUOT"
}
