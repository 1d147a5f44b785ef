import { countOpen } from "../descriptors.ts"
import { getRlimit, RLIMIT_NOFILE, RLIMIT_NPROC, type Rlimit, setRlimit } from "../libc.ts"

/** What programs expect: select() breaks on descriptors from this number on. */
const usualOpenFiles = 1024n

/** More than a start itself opens, and threads of Bun meanwhile. */
const openedMeanwhile = 64

/** Where `openFiles` is not null, a child has to be started with that limit by somebody else. */
type LimitsForChildren = Disposable & { openFiles: Rlimit | null }

/**
 * Until it is disposed, what this process starts has the limits that are meant for children, and
 * this process, too: it should be no longer than a start takes.
 */
export function limitsForChildren(): LimitsForChildren {
  using changed = new DisposableStack()
  const openFiles = changeOpenFiles(changed)
  changeProcesses(changed)
  const restored = changed.move()
  return { openFiles, [Symbol.dispose]: () => restored.dispose() }
}

/**
 * Bun raises the soft limit of this process as far as it may before anything else runs, and what it
 * was is not known any more; programs that need many files raise it themselves. With a limit below
 * what is open here, nothing more could be opened, as a start must: then it is for the child to
 * lower its own.
 */
function changeOpenFiles(changed: DisposableStack): Rlimit | null {
  const own = getRlimit(process.pid, RLIMIT_NOFILE)
  if (own === null || own.soft <= usualOpenFiles) return null
  const usual = { ...own, soft: usualOpenFiles }
  if (countOpen(Number(own.soft)) + openedMeanwhile > usualOpenFiles) return usual
  change(RLIMIT_NOFILE, own, usual, changed)
  return null
}

const mostReserved = 32n
const beyondAll = 2n ** 64n - 1n

/**
 * Leaves this user some processes that no child takes: the limit counts threads, and Bun, which
 * starts some now and then, aborts where it cannot. Root is not limited.
 */
function changeProcesses(changed: DisposableStack): void {
  const own = getRlimit(process.pid, RLIMIT_NPROC)
  if (own === null || own.soft === beyondAll || process.getuid?.() === 0) return
  const quarter = own.soft / 4n
  const reserved = quarter < mostReserved ? quarter : mostReserved
  change(RLIMIT_NPROC, own, { ...own, soft: own.soft - reserved }, changed)
}

function change(resource: number, own: Rlimit, meanwhile: Rlimit, changed: DisposableStack): void {
  if (!setRlimit(process.pid, resource, meanwhile)) return
  changed.defer(() => void setRlimit(process.pid, resource, own))
}
