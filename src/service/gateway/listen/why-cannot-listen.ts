import { once } from "node:events"
import { createServer } from "node:net"
import { isWithoutIpv6, listenErrorText } from "./listen-error.ts"
import { readTlsMaterial, type TlsFiles } from "./tls-material.ts"

/**
 * Why a gateway could not listen where it should, found by listening there for a moment; null when
 * it could. For whoever can still go another way.
 */
export async function whyCannotListen(where: {
  hosts: readonly string[]
  port: number
  tls: TlsFiles | null
}): Promise<string | null> {
  const { hosts, port, tls } = where
  const material = tls === null ? null : readTlsMaterial(tls)
  if (material?.ok === false) return material.failure
  for (const host of hosts) {
    try {
      await listenForAMoment(host, port)
    } catch (error) {
      if (!isWithoutIpv6(error, host, hosts)) return listenErrorText(error, where)
    }
  }
  return null
}

async function listenForAMoment(host: string, port: number): Promise<void> {
  const server = createServer()
  server.listen({ host, port, exclusive: true })
  await once(server, "listening") // rejects with the system's error
  server.close()
  await once(server, "close")
}
