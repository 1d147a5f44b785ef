// The service with what the conformance suites call. It is built for their tests alone: what users
// get is src/main.ts, which knows nothing of this.
if (process.argv[2] === "__gateway") {
  const { serveGateway } = await import("../../src/service/gateway/serve/serve.ts")
  const { registerFixtures } = await import("./fixtures.ts")
  process.exit(await serveGateway({ extendMcp: registerFixtures }))
} else await import("../../src/main.ts")
