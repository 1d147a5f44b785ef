import { countText } from "../../../lib/count-text.ts"
import { onOneLine } from "../../../lib/harmless-text.ts"
import { nodeOrder } from "./order-node.ts"

export const nodeForgetCommand = nodeOrder({
  usage: "node forget [OPTIONS] NODE",
  about: `\
For a node that will not come back. It must be silent. What it ran is declared lost, at once and for
good; the other nodes refuse it if it comes all the same, until \`cc-executor node undrain\`.`,
  example: ["its machine is gone", "cc-executor node forget worker-1"],
  async give(client, node) {
    const { lost } = await client.call("node.forget", { node })
    return `${onOneLine(node)} is forgotten; ${countText(lost, "execution")} declared lost.`
  },
})
