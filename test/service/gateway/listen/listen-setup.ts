import { connectionBounds } from "../../../../src/service/gateway/listen/connection-bounds.ts"
import type { ListenEvents } from "../../../../src/service/gateway/listen/listen.ts"
import { acceptedSockets } from "../../../../src/service/os/network/accepted-sockets.ts"
import { QuietLog } from "../../../support/quiet-log.ts"

/** What a listener needs of the system, with nothing told to anybody. */
export const listenEvents: ListenEvents = {
  log: new QuietLog(),
  refused: () => undefined,
  uidOf: () => 0,
  sockets: acceptedSockets,
  expires: () => undefined,
}

export const roomyBounds = connectionBounds(10_000, 65_536)
