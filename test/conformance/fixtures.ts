import { McpServer, type Server } from "@modelcontextprotocol/server"
import { registerAskingTools } from "./fixtures/asking-tools.ts"
import { registerContentTools } from "./fixtures/content-tools.ts"
import { serveFailingTasks } from "./fixtures/failing-tasks.ts"
import { registerLegacyAskingTools } from "./fixtures/legacy-asking-tools.ts"
import { registerNotifyingTools } from "./fixtures/notifying-tools.ts"
import { registerPrompts } from "./fixtures/prompts.ts"
import { registerBeside } from "./fixtures/register-beside.ts"
import { registerResources } from "./fixtures/resources.ts"
import { registerRoundsTools, roundsGates } from "./fixtures/rounds-tools.ts"
import { registerSchemaTool } from "./fixtures/schema-tool.ts"
import { registerTaskTools, taskGates } from "./fixtures/task-tools.ts"
import { gateTools } from "./fixtures/tool-gates.ts"
import { serveWaitingTasks } from "./fixtures/waiting-tasks.ts"

/** Adds what the conformance suites call to a server that has all that the service itself has. */
export function registerFixtures(server: Server, era: "legacy" | "modern"): void {
  server.registerCapabilities({ logging: {} })
  // Whoever registers something with it registers it with the service's server.
  const registry = Object.assign(new McpServer({ name: "fixtures", version: "0" }), { server })
  registerBeside(server, () => {
    registerContentTools(registry)
    registerNotifyingTools(registry)
    registerSchemaTool(registry)
    registerAskingTools(registry)
    registerRoundsTools(registry)
    registerLegacyAskingTools(registry)
    registerTaskTools(registry)
    registerResources(registry)
    registerPrompts(registry)
  })
  gateTools(server, new Map([...roundsGates, ...taskGates]))
  if (era === "legacy") return
  serveWaitingTasks(server)
  serveFailingTasks(server)
}
