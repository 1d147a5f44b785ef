// The client of every server whose speed is compared: a process of its own, so that nothing else
// waits for its event loop. It parses all it gets and checks that every line is there. A run for
// each line on its standard input, so that all but the first find it warm.
import { type CountedRun, countedRequest } from "./counted-run.ts"
import { ExpectedOutput } from "./expected-output.ts"
import { SocketClient } from "./socket-client.ts"

const { url, server, encoding, lineCount } = countedRequest(process.argv[2] ?? "")
const expected = ExpectedOutput.ofSequence(lineCount)
let lastLineMs = Number.NaN

for await (const _ of console) {
  const counted = await run()
  Bun.gc(true) // what this run left is not the next one's cost
  console.log(JSON.stringify(counted))
}

async function run(): Promise<CountedRun> {
  expected.startOver()
  const cpuBefore = process.cpuUsage()
  const startedMs = performance.now()
  const executionId = server === "websocketd" ? await followLines() : await followExecution()
  const seconds = (performance.now() - startedMs) / 1000
  const cpu = process.cpuUsage(cpuBefore)
  if (!expected.isComplete) throw new Error("the end came before the last line")
  return {
    seconds,
    lastLineSeconds: (lastLineMs - startedMs) / 1000,
    clientCpuSeconds: (cpu.user + cpu.system) / 1e6,
    executionId,
  }
}

async function followExecution(): Promise<string | null> {
  using client = await SocketClient.open(url)
  client.onOutput = (piece) => {
    if (typeof piece !== "string") expected.takeBytes(piece)
    else if (encoding === "base64") expected.takeBytes(Buffer.from(piece, "base64"))
    else expected.takeText(piece)
    if (expected.isComplete) lastLineMs = performance.now()
  }
  const completed = client.completed()
  if (server === "floor") {
    await completed
    return null
  }
  const id = await client.execute({ argv: ["seq", "1", String(lineCount)], encoding })
  await completed
  return id
}

/** websocketd: a text frame is a line; the close is the end. */
async function followLines(): Promise<null> {
  const socket = new WebSocket(url)
  socket.addEventListener("message", ({ data }) => {
    expected.takeLine(String(data))
    if (expected.isComplete) lastLineMs = performance.now()
  })
  await new Promise((resolve, reject) => {
    socket.addEventListener("close", resolve)
    socket.addEventListener("error", reject)
  })
  return null
}
