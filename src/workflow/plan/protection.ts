import { createHash } from "node:crypto"
import { leftByPrograms } from "./named-files.ts"

/** Texts for bash that fail where something is not as it was before the act. */

/** Lists every file at or below the paths with its digest; what is not there is left out. */
export function listingScript(paths: readonly string[], except: readonly string[] = []): string {
  const left = [...leftByPrograms].map((name) => `-name ${name}`)
  const spared = except.map((path) => `-path ${shellQuoted(`./${literally(path)}`)}`)
  const skipped = [...left, ...spared].join(" -o ")
  const named = paths.map((path) => (path === "." ? path : shellQuoted(`./${path}`))).join(" ")
  return [
    `find ${named} \\( ${skipped} \\) -prune -o \\( -type f -o -type l \\) -print0 2>/dev/null |`,
    "  LC_ALL=C sort -z | xargs -0 -r sha256sum --",
  ].join("\n")
}

/** For `find`, to which some characters mean more. */
function literally(path: string): string {
  return path.replace(/[*?[\]\\]/g, "\\$&")
}

const mostListing = 40_000

/** Fails, and says what has changed, where `listing` is no longer what the script above prints. */
export function protectionScript(
  paths: readonly string[],
  listing: string,
  except: readonly string[] = [],
): string {
  const before = listing.trimEnd()
  if (before.length > mostListing) return digestScript(paths, before, except)
  return [
    `now=$(${listingScript(paths, except)}) || true`,
    `before=${shellQuoted(before)}`,
    'if [ "$now" != "$before" ]; then',
    `  echo ${shellQuoted("Protected files have changed. Before and after:")}`,
    '  diff <(echo "$before") <(echo "$now") || true',
    "  exit 1",
    "fi",
  ].join("\n")
}

function digestScript(paths: readonly string[], before: string, except: readonly string[]): string {
  const digest = createHash("sha256").update(`${before}\n`).digest("hex")
  return [
    `now=$( (${listingScript(paths, except)}) | sha256sum) || true`,
    `if [ "$now" != ${shellQuoted(`${digest}  -`)} ]; then`,
    `  echo ${shellQuoted(`Protected files have changed, below ${paths.join(", ")}.`)}`,
    "  exit 1",
    "fi",
  ].join("\n")
}

/** What stands around the part of a file that may change. */
export type Surroundings = {
  readonly file: string
  readonly before: { readonly bytes: number; readonly sha256: string }
  readonly after: { readonly bytes: number; readonly sha256: string }
}

/** Fails where a file changed outside of the one code block in it that may change. */
export function surroundingsScript({ file, before, after }: Surroundings): string {
  const both = before.bytes + after.bytes
  const message = `${file} has changed outside its Implementation Code Block.`
  return [
    `file=${shellQuoted(`./${file}`)}`,
    `fail() { echo ${shellQuoted(message)}; exit 1; }`,
    'size=$(wc -c < "$file") || fail',
    `[ "$size" -ge ${both} ] || fail`,
    `[ "$(head -c ${before.bytes} "$file" | sha256sum)" = "${before.sha256}  -" ] || fail`,
    `[ "$(tail -c ${after.bytes} "$file" | sha256sum)" = "${after.sha256}  -" ] || fail`,
    // What closes the block would let the rest pass for something else.
    `code=$(tail -c +${before.bytes + 1} "$file" | head -c $((size - ${both})))`,
    `if grep -qE '^ {0,3}(\`\`\`|~~~)' <<< "$code"; then fail; fi`,
  ].join("\n")
}

const timeoutSeconds = 10

/** Fails where nothing listens at the address, for a while. */
export function reachableScript(host: string, port: number): string {
  const connect = `exec 3<>/dev/tcp/${host}/${port}`
  return `timeout ${timeoutSeconds} bash -c ${shellQuoted(connect)}`
}

export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** The same, without quotes where none are needed. */
export function shellWord(text: string): string {
  return /^[\w./=:@%+-]+$/.test(text) ? text : shellQuoted(text)
}
