import { cpSync } from "node:fs"
import { join } from "node:path"
import { root } from "../../../scripts/steps.ts"

/** What an image is built from, and Compose's files: as much of a checkout as the guide needs. */
const names =
  "Dockerfile .dockerignore compose.yaml compose.agent.yaml compose.secret.yaml package.json " +
  "bun.lock bunfig.toml tsconfig.json scripts src"

export function checkOut(folder: string): void {
  for (const name of names.split(" ")) {
    cpSync(join(root, name), join(folder, name), { recursive: true })
  }
}
