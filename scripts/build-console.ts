import { installIfMissing } from "./steps.ts"

// The page at `/`, for a service that runs from source; executables have their own in them.
await installIfMissing()
const { writeConsole } = await import("./build/console.ts")
await writeConsole()
