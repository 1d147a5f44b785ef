import { join } from "node:path"
import { bun, root } from "./steps.ts"

const installed = await bun("install", "--frozen-lockfile", "--silent")
if (installed !== 0) process.exit(installed)

const { writeConsole } = await import("./build/console.ts")
await writeConsole()

// Replaces this process instead of starting a child, so that a signal sent to `npm start` reaches
// the service and the service's exit code is npm's.
process.chdir(root)
const serve = [process.execPath, join("src", "main.ts"), "serve", ...process.argv.slice(2)]
process.execve?.(process.execPath, serve, process.env)
