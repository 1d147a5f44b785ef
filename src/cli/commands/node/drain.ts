import { onOneLine } from "../../../lib/harmless-text.ts"
import { nodeOrder } from "./order-node.ts"

export const nodeDrainCommand = nodeOrder({
  usage: "node drain [OPTIONS] NODE",
  about: `\
Nothing new is placed on the node from now on; what runs there goes on to its end. Undone by
\`cc-executor node undrain\`.`,
  example: ["before its machine is serviced", "cc-executor node drain worker-1"],
  async give(client, node) {
    await client.call("node.drain", { node })
    return `${onOneLine(node)} takes nothing new.`
  },
})
