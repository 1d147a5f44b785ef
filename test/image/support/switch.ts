import { notRoot } from "../../support/test-unless.ts"

/**
 * `1`: an engine of the tests' own, from Debian's packages, with stand-ins for the base images.
 * `engine`: the engine that `docker` reaches, with the real ones.
 */
const choice = process.env["TEST_IMAGE"] ?? ""

export const usesOwnEngine = choice !== "engine"

/** Why images are not built here, or null. */
export const noImages = obstacle()

function obstacle(): string | null {
  if (choice === "1") return notRoot
  if (choice === "engine") return null
  return "set TEST_IMAGE=1"
}

/** The first test to ask has the engine started and the images built. */
export const imageTimeoutMs = 600_000
