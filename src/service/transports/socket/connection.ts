/** What a session needs of its WebSocket: Bun's, or a test's. */
export interface Connection {
  /** As Bun has it: > 0 sent, -1 accepted but wait for drain, 0 dropped. */
  send(message: string | Uint8Array<ArrayBuffer>): number
  ping(): void
  close(code: number, reason: string): void
  /** Without a handshake, for a peer that does not answer. */
  terminate(): void
}
