/** What controls, orders or hides text: of no width, or not where it seems to stand. */
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu
const unseenInLines = /[^\P{Cc}\n\t]|[\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

/**
 * What somebody else may have written, made harmless for a terminal: line ends and tabs stay,
 * everything else that a terminal would obey or not show is shown as JSON would escape it. So JSON
 * that goes through this means the same as before.
 */
export function harmless(text: string): string {
  return isPlain(text) ? text : text.replace(unseenInLines, escaped)
}

/** The same, one line long. */
export function onOneLine(text: string): string {
  return text.replace(unseen, escaped)
}

/** Most texts are, and this is found out several times as fast. */
function isPlain(text: string): boolean {
  return !/[^\n\t\x20-\x7e]/.test(text)
}

function escaped(character: string): string {
  const short = JSON.stringify(character).slice(1, -1)
  if (short !== character) return short
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("")
}
