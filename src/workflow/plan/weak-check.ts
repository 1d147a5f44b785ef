/** Why a command can hardly fail, whatever it is run on; null where nothing speaks against it. */
export function whyWeak(run: string): string | null {
  const text = run.trim()
  if (/^(?:true|:|exit(?:\s+0)?)$/.test(text)) return "it cannot fail"
  if (/^(?:echo|printf)\b[^|;&]*$/.test(text)) return "it only prints something"
  if (/(?:\|\||;|&)\s*(?:true|:|exit(?:\s+0)?)\s*$/.test(text)) {
    return "it ends in a command that cannot fail"
  }
  if (/\|\|\s*(?:echo|printf)\b[^|;&]*$/.test(text)) {
    return "where it fails, it prints something, and succeeds"
  }
  const last = /(?<!\|)\|(?!\|)\s*(\w+)[^|]*$/.exec(text)?.[1] ?? ""
  if (/^(?:tee|cat|head|tail|sed|tr|sort|uniq)$/.test(last) && !text.includes("pipefail")) {
    return `its exit is that of \`${last}\`: begin it with \`set -o pipefail;\``
  }
  return null
}
