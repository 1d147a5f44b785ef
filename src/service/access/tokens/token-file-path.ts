import { join } from "node:path"

export function tokenFilePath(stateDirectory: string): string {
  return join(stateDirectory, "tokens.json")
}
