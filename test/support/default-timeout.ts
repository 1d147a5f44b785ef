import { setDefaultTimeout } from "bun:test"

// Loaded before all test files. A test that waits for what never comes must end; one that is slow
// on a busy machine must not.
setDefaultTimeout(60_000)
