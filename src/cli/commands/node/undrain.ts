import { onOneLine } from "../../../lib/harmless-text.ts"
import { nodeOrder } from "./order-node.ts"

export const nodeUndrainCommand = nodeOrder({
  usage: "node undrain [OPTIONS] NODE",
  about: "Takes back a `drain`, or a `forget`: the node gets new work again once it is there.",
  example: ["its machine is back", "cc-executor node undrain worker-1"],
  async give(client, node) {
    await client.call("node.undrain", { node })
    return `${onOneLine(node)} may take new work.`
  },
})
