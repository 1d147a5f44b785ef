import { ok, type Result } from "../../../lib/result.ts"
import { isLoopbackAddress, type TcpEnds } from "../../../lib/tcp-ends.ts"
import { Knocks } from "./address-limits.ts"
import { type End, TlsFront, type TlsPeer, type TlsRefusal } from "./tls-front.ts"
import { readTlsMaterial, type TlsFiles, type TlsMaterial } from "./tls-material.ts"
import { type TlsLog, TlsRotation } from "./tls-rotation.ts"

export type TlsDoorOptions = {
  files: TlsFiles
  innerPort: number
  log: TlsLog
  refused: (refusal: TlsRefusal) => void
  uidOf: (ends: TcpEnds) => number | null
  /** When the certificate expires that is in use from now on. */
  expires: (at: Date) => void
}

export type TlsDoor = Disposable & {
  listenOn(host: string, port: number): Promise<number>
  peerOf(inner: End): TlsPeer | null
}

const seats = { mostConnections: 4096, mostConnectionsPerAddress: 1024 }

/** A front that follows its certificate files, and says in the log whom it turned away. */
export function openTlsDoor(options: TlsDoorOptions): Result<TlsDoor, string> {
  const { files, innerPort, log } = options
  const material = readTlsMaterial(files)
  if (!material.ok) return material
  const parts = new DisposableStack()
  const refusals = parts.use(refusalTally(log))
  const knocks = new Knocks(() => performance.now())
  const front = parts.use(
    new TlsFront({
      ...seats,
      innerPort,
      material: material.value,
      onRefused(refusal) {
        if (refusal.kind === "handshake") knocks.failed(refusal.address)
        refusals.add(refusal)
        options.refused(refusal)
      },
      isBarred: (address) => knocks.isBarred(address),
      userOf: (peer, local) =>
        isLoopbackAddress(peer.address) ? `uid ${options.uidOf({ peer, local })}` : null,
    }),
  )
  const use = (next: TlsMaterial) => {
    front.use(next)
    options.expires(next.expiresAt)
  }
  options.expires(material.value.expiresAt)
  parts.use(new TlsRotation({ files, material: material.value, use, log }))
  return ok({
    listenOn: (host, port) => front.listenOn(host, port),
    peerOf: (inner) => front.peerOf(inner),
    [Symbol.dispose]: () => parts.dispose(),
  })
}

const tellEveryMs = 1_000

type RefusalTally = Disposable & { add: (refusal: TlsRefusal) => void }

/**
 * The first refusal is told at once; in the second after it they are only counted, and the count is
 * told with the last of them. Whoever knocks a thousand times a second does not fill the log.
 */
export function refusalTally(log: TlsLog): RefusalTally {
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
