// Starts floods and reads them, until it is ended.
import { SocketClient } from "./socket-client.ts"

const [url = "", count = "1"] = process.argv.slice(2)
const client = await SocketClient.open(url)
const ids: string[] = []
for (let flood = 0; flood < Number(count); flood++) {
  ids.push(await client.execute({ argv: ["yes"], encoding: "binary" }))
}
console.log(JSON.stringify(ids))
