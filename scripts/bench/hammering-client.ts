// One client that asks for as much as it can: in every way, until it is ended. What it did is the
// last line it prints.
const [mode = "", url = "", token = ""] = process.argv.slice(2)
const http = url.replace(/^ws/, "http").replace(/\/ws\/mcp$/, "/executions")
const authorization = { Authorization: `Bearer ${token}` }
const atOnce = 50
const mostUnsentBytes = 1_000_000
const told = { asked: 0, refused: 0, closed: 0 }

process.on("SIGTERM", () => {
  console.log(JSON.stringify(told))
  process.exit(0)
})

const run = { command: "true" }
switch (mode) {
  case "execute over a WebSocket":
    await overSockets((id) =>
      JSON.stringify({ jsonrpc: "2.0", id, method: "execute", params: run }),
    )
    break
  case "list over a WebSocket":
    await overSockets((id) => JSON.stringify({ jsonrpc: "2.0", id, method: "list" }))
    break
  case "noise over a WebSocket":
    await overSockets(() => "{{{{{{")
    break
  case "execute over HTTP":
    await overHttp({
      method: "POST",
      headers: { ...authorization, "Content-Type": "application/json" },
      body: JSON.stringify(run),
    })
    break
  case "list over HTTP":
    await overHttp({ headers: authorization })
    break
  case "wrong tokens over HTTP":
    await overHttp({ headers: { Authorization: "Bearer cce_wrong" } })
    break
  case "connections":
    await Promise.all(Array.from({ length: atOnce }, connectAgainAndAgain))
    break
}

async function overSockets(message: (id: number) => string): Promise<never> {
  while (true) {
    const { promise, resolve } = Promise.withResolvers<void>()
    const socket = new WebSocket(url, { headers: authorization })
    const sending = setInterval(() => {
      while (socket.readyState === WebSocket.OPEN && socket.bufferedAmount < mostUnsentBytes) {
        socket.send(message(told.asked))
        told.asked += 1
        if (told.asked % 500 === 0) break // answers want to be read as well
      }
    }, 1)
    socket.addEventListener("message", ({ data }) => {
      if (String(data).includes('"error"')) told.refused += 1
    })
    socket.addEventListener("close", () => {
      clearInterval(sending)
      told.closed += 1
      resolve()
    })
    await promise
  }
}

async function overHttp(init: RequestInit): Promise<void> {
  const worker = async () => {
    while (true) {
      const answer = await fetch(http, init)
      await answer.arrayBuffer()
      told.asked += 1
      if (answer.status >= 400) told.refused += 1
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

async function connectAgainAndAgain(): Promise<never> {
  while (true) {
    const { promise, resolve } = Promise.withResolvers<void>()
    const socket = new WebSocket(url, { headers: authorization })
    socket.addEventListener("message", () => socket.close())
    socket.addEventListener("close", () => {
      told.closed += 1
      resolve()
    })
    await promise
  }
}
