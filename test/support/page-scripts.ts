export const heldKeys = { none: 0, ctrl: 2, shift: 8 }

export const keyCodes: Record<string, number> = {
  "]": 221,
  Enter: 13,
  Tab: 9,
  Escape: 27,
  Delete: 46,
  End: 35,
  Home: 36,
  PageUp: 33,
  PageDown: 34,
  ArrowUp: 38,
  ArrowDown: 40,
}

export const noteViolations = `
  window.violations = []
  addEventListener("securitypolicyviolation", (event) =>
    window.violations.push(event.violatedDirective + " " + event.blockedURI + " " + event.sample))
`

/** Runs in the page: what has the focus, by its name, and whether that shows. */
export const focusedControl = `() => {
  const element = document.activeElement
  if (element === null || element === document.body) return { called: "", isSeen: true }
  const labels = [...(element.labels ?? [])].map((label) => label.textContent).join(" ")
  const called = element.getAttribute("aria-label") || labels || element.textContent || element.id
  // Of a terminal, what is typed into is out of sight, and the terminal shows it.
  const shown = element.closest(".screen") ?? element
  const { outlineStyle, outlineWidth } = getComputedStyle(shown)
  const { width, height, bottom, right } = shown.getBoundingClientRect()
  const isInView = width > 2 && height > 2 && bottom > 0 && right > 0
  const isOutlined = outlineStyle !== "none" && parseFloat(outlineWidth) > 0
  const isSeen = element.matches("main") || (isOutlined && isInView)
  return { called: called.trim(), isSeen }
}`

/** Runs in the page: the middle of a control that is there, shown and enabled. */
export const placeOfControl = `(selector, name) => {
  const nameOf = (element) =>
    (element.getAttribute("aria-label") ?? element.textContent ?? "").trim()
  const found = [...document.querySelectorAll(selector)].find((element) =>
    !element.disabled && (name === undefined || nameOf(element) === name))
  if (found === undefined) return false
  found.scrollIntoView({ block: "nearest" })
  const { left, top, width, height } = found.getBoundingClientRect()
  return width === 0 ? false : { x: left + width / 2, y: top + height / 2 }
}`
