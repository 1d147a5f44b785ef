import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** The files below a folder that hold any of the texts, byte by byte, by their names. */
export function filesWith(folder: string, ...texts: string[]): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => {
      const bytes = readFileSync(path)
      return texts.some((text) => bytes.includes(text))
    })
}
