/** The commands about the nodes of a fleet. */
export const nodeCommands = {
  "node ls": {
    summary: "list the nodes of the fleet",
    load: async () => (await import("./ls.ts")).nodeLsCommand,
  },
  "node drain": {
    summary: "place nothing new on a node",
    load: async () => (await import("./drain.ts")).nodeDrainCommand,
  },
  "node undrain": {
    summary: "place on a node again",
    load: async () => (await import("./undrain.ts")).nodeUndrainCommand,
  },
  "node forget": {
    summary: "give up a node that will not come back, and what it ran",
    load: async () => (await import("./forget.ts")).nodeForgetCommand,
  },
}
