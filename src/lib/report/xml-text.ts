const entities: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#x27;",
}

/**
 * Any text as it stands in XML and in HTML, within an element or an attribute. XML has no way at
 * all to write most control characters, nor half a surrogate pair.
 */
export function xmlText(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, "\u{fffd}")
    .replace(/[&<>"']/g, (character) => entities[character] ?? character)
}
