import { afterTimer } from "../../transports/http/app.ts"
import type { Courier, CourierPorts } from "../notifications/courier.ts"

/** Whoever delivers notifications, once it is loaded. */
export type Delivering = Disposable & {
  readonly courier: Promise<Courier>
  /** Up to this one, what is in the outbox may be delivered. */
  wake(upTo: number): void
}

/** Loads it for services only that tell somebody of something. */
export function deliver(ports: Omit<CourierPorts, "now" | "after" | "random">): Delivering {
  let isOver = false
  let loaded: Courier | null = null
  const load = async () => {
    const { Courier } = await import("../notifications/courier.ts")
    const clock = { now: () => new Date(), after: afterTimer, random: Math.random }
    const courier = new Courier({ ...ports, ...clock })
    if (isOver) courier.close()
    else void courier.begin()
    loaded = courier
    return courier
  }
  return {
    courier: load(),
    wake: (upTo) => loaded?.wake(upTo), // until it is loaded, it has not begun either
    [Symbol.dispose]() {
      isOver = true
      loaded?.close()
    },
  }
}

/** Where links lead when nobody has said it: to this machine, by the name it has for itself. */
export function ownAddress(listen: { hosts: string[]; tls: unknown }, port: number): string {
  const scheme = listen.tls === null ? "http" : "https"
  const [host = "localhost"] = listen.hosts
  const isAnywhere = host === "0.0.0.0" || host === "::"
  const name = isAnywhere ? "localhost" : host.includes(":") ? `[${host}]` : host
  return `${scheme}://${name}:${port}`
}
