import { expect, test } from "bun:test"
import { socketUrl } from "../../../src/client/connection/open-socket.ts"

test.each([
  ["ws://host:8003/ws/mcp", "ws://host:8003/ws/mcp"],
  ["ws+unix:///run/cc.sock:/ws/mcp", "ws+unix:///run/cc.sock:/ws/mcp"],
  ["http://host:8003", "ws://host:8003/ws/mcp"],
  ["http://host:8003/", "ws://host:8003/ws/mcp"],
  ["https://host/executor/ws/mcp?token=a%20b", "wss://host/executor/ws/mcp?token=a%20b"],
  ["http://[::1]:8003/", "ws://[::1]:8003/ws/mcp"],
  ["https://user:p%40ss@host/", "wss://user:p%40ss@host/ws/mcp"],
])("%s means %s", (address, url) => {
  expect(socketUrl(address)).toEqual({ ok: true, value: url })
})

test.each(["", "host", "//host/ws"])("%p is refused", (address) => {
  expect(socketUrl(address)).toMatchObject({ ok: false })
})
