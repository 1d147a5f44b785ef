import { type Source, urlProblem, type Way } from "../../../execution/notify-target.ts"
import { messageOf } from "../../../lib/errno.ts"
import { readRegularFile } from "../../../lib/read-given-file.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"

const mostBytes = 64 * 1024

/** What a source says now: a file is read each time, so a new secret is in use at once. */
export function readSource(source: Source): Result<string, string> {
  if ("text" in source) return ok(source.text)
  try {
    const text = readRegularFile(source.file, mostBytes).trim()
    return text === "" ? fail(`${source.file} is empty`) : ok(text)
  } catch (error) {
    return fail(`${source.file} cannot be read: ${messageOf(error)}`)
  }
}

/** Everything that a target of this kind needs to read. */
function sourcesOf(way: Way): Source[] {
  switch (way.kind) {
    case "webhook":
      return [way.url, way.secret]
    case "ntfy":
      return way.token === null ? [way.url] : [way.url, way.token]
    case "slack":
      return [way.url]
    case "command":
      return []
  }
}

/** An HMAC is no better than what it is made with. */
const fewestSecretCharacters = 16

/** Why a target could not be used as it is set up; null when it can. */
export function wayProblem(way: Way): string | null {
  for (const source of sourcesOf(way)) {
    const read = readSource(source)
    if (!read.ok) return read.failure
  }
  if (way.kind === "command") return null
  const url = readSource(way.url)
  const problem = url.ok ? urlProblem(url.value) : null
  if (problem !== null && "file" in way.url) return `the address in ${way.url.file} ${problem}`
  if (way.kind !== "webhook" || !("file" in way.secret)) return problem
  const secret = readSource(way.secret)
  if (!secret.ok || secret.value.length >= fewestSecretCharacters) return problem
  return `the secret in ${way.secret.file} has fewer than ${fewestSecretCharacters} characters`
}
