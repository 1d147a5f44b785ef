/** One that was free a moment ago: with port 0 a new gateway would take another. */
export function freePort(): number {
  using listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } })
  return listener.port
}
