import { isErrno } from "../../lib/errno.ts"
import { pinOwnedSocket } from "../../lib/owned-file.ts"
import { UntrustedFileError } from "../../lib/untrusted-file.ts"
import { listenerUid } from "../../service/os/libc.ts"
import type { StatePaths } from "../../service/storage/state-paths.ts"
import { type Answer, ask, unreadinessIn } from "./ask.ts"

/** Nobody ever listens there. */
const nowhere = "/proc/self/fd/-1"

/**
 * The way to the listener of a state directory, which the kernel says is its owner's: nobody else
 * is told anything. The way leads to this very socket until it is disposed, whatever the name has
 * come to mean; where nobody listens, it leads nowhere. Throws for a listener of somebody else.
 */
function wayToListener({ socket }: StatePaths): Disposable & { path: string } {
  using stack = new DisposableStack()
  try {
    const { fd, stat } = stack.use(pinOwnedSocket(socket))
    const path = `/proc/self/fd/${fd}`
    const uid = listenerUid(path)
    if (uid !== stat.uid) throw foreignListener(socket, uid, stat.uid)
    const pinned = stack.move()
    return { path, [Symbol.dispose]: () => pinned.dispose() }
  } catch (error) {
    if (!isErrno(error, "ENOENT", "ECONNREFUSED", "EAGAIN", "EACCES")) throw error
    return { path: nowhere, [Symbol.dispose]: () => undefined }
  }
}

function foreignListener(path: string, uid: number, owner: number): UntrustedFileError {
  return new UntrustedFileError(
    `User ${uid} listens on ${path}, which belongs to user ${owner}, so nothing was sent there. ` +
      "Find out what that is (ss -xlp), end it, and remove the file.",
  )
}

/** One HTTP request to the local service. */
export async function askLocal(
  paths: StatePaths,
  path: string,
  timeoutMs: number,
): Promise<Answer> {
  using way = wayToListener(paths)
  return await ask(`http://localhost${path}`, { unix: way.path, timeoutMs })
}

/**
 * Another user's listener may be silent on purpose, to keep root waiting: nobody waits for it as
 * for one's own.
 */
export const foreignAnswerMs = 1_000

/** Whether the owner of the directory listens there, whatever it says. */
export function hasListener(paths: StatePaths): boolean {
  using way = wayToListener(paths)
  return way.path !== nowhere
}

const readyTimeoutMs = 2_000

/** Whether a service is there to be asked. One that is full is; one that ends is not. */
export async function isThere(paths: StatePaths): Promise<boolean> {
  const answer = await askLocal(paths, "/readyz", readyTimeoutMs)
  if (answer.kind !== "answer") return false
  if (answer.status === 200) return true
  const reasons = unreadinessIn(answer.body)
  return reasons !== null && reasons.every(({ name }) => name !== "shutting-down")
}

/** A WebSocket to the local service. */
export function openLocalSocket(paths: StatePaths, protocols: string[] = []): WebSocket {
  const way = wayToListener(paths)
  const socket = new WebSocket(`ws+unix://${way.path}:/ws/mcp`, { protocols })
  const opened = new AbortController()
  for (const event of ["open", "close"]) {
    const release = () => {
      opened.abort()
      way[Symbol.dispose]()
    }
    socket.addEventListener(event, release, { signal: opened.signal })
  }
  return socket
}
