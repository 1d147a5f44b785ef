import type { Log } from "../../../lib/log.ts"
import { ok, type Result } from "../../../lib/result.ts"
import { isLoopbackAddress, type TcpEnds } from "../../../lib/tcp-ends.ts"
import { type ConnectionLimits, HandshakeFailures } from "./connection-limiter.ts"
import { readTlsMaterial, type TlsFiles, type TlsMaterial } from "./tls-material.ts"
import { TlsRotation } from "./tls-rotation.ts"
import { type End, type TlsPeer, type TlsRefusal, TlsTerminator } from "./tls-terminator.ts"

export type TlsListenerOptions = {
  files: TlsFiles
  innerPort: number
  limits: ConnectionLimits
  log: Log
  refused: (refusal: TlsRefusal) => void
  uidOf: (ends: TcpEnds) => number | null
  /** When the certificate expires that is in use from now on. */
  expires: (at: Date) => void
}

export type TlsListener = Disposable & {
  listenOn(host: string, port: number): Promise<number>
  peerOf(inner: End): TlsPeer | null
}

/** Terminates TLS, reloads changed certificate files, and logs refused connections. */
export function openTlsListener(options: TlsListenerOptions): Result<TlsListener, string> {
  const { files, innerPort, log } = options
  const material = readTlsMaterial(files)
  if (!material.ok) return material
  const parts = new DisposableStack()
  const refusals = parts.use(refusalTally(log))
  const failures = new HandshakeFailures(() => performance.now())
  const terminator = parts.use(
    new TlsTerminator({
      ...options.limits,
      innerPort,
      material: material.value,
      onRefused(refusal) {
        if (refusal.kind === "handshake") failures.add(refusal.address)
        refusals.add(refusal)
        options.refused(refusal)
      },
      isBlocked: (address) => failures.isBlocked(address),
      userOf: (peer, local) =>
        isLoopbackAddress(peer.address) ? `uid ${options.uidOf({ peer, local })}` : null,
    }),
  )
  const use = (next: TlsMaterial) => {
    terminator.use(next)
    options.expires(next.expiresAt)
  }
  options.expires(material.value.expiresAt)
  parts.use(new TlsRotation({ files, material: material.value, use, log }))
  return ok({
    listenOn: (host, port) => terminator.listenOn(host, port),
    peerOf: (inner) => terminator.peerOf(inner),
    [Symbol.dispose]: () => parts.dispose(),
  })
}

const tellEveryMs = 1_000

type RefusalTally = Disposable & { add: (refusal: TlsRefusal) => void }

/**
 * The first refusal is told at once; in the second after it they are only counted, and the count is
 * told with the last of them. A thousand attempts a second do not fill the log.
 */
export function refusalTally(log: Log): RefusalTally {
  let last: TlsRefusal | null = null
  let count = 0
  let timer: ReturnType<typeof setTimeout> | null = null

  const tell = () => {
    timer = null
    if (last === null) return
    log.warn({ ...last, count }, "tls connection refused")
    last = null
    count = 0
    timer = setTimeout(tell, tellEveryMs)
  }
  return {
    add(refusal) {
      last = refusal
      count += 1
      if (timer === null) tell()
    },
    [Symbol.dispose]() {
      if (timer !== null) clearTimeout(timer)
    },
  }
}
