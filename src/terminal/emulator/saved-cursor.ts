import type { XtermBuffer, XtermCore } from "./xterm-core.ts"

const savedRows = new WeakMap<XtermBuffer, number>()

/** The row of the screen that a saved cursor comes back to. */
export function savedRow(buffer: XtermBuffer): number {
  return savedRows.get(buffer) ?? 0
}

/**
 * What is saved is a place on the screen, as in other terminals, whatever scrolls meanwhile. The
 * character set that comes back is the one that is chosen from then on, and an open link stays.
 */
export function saveScreenPlaces(core: XtermCore): void {
  const handler = core._inputHandler
  const save = handler.saveCursor.bind(handler)
  const restore = handler.restoreCursor.bind(handler)
  handler.saveCursor = (params) => {
    savedRows.set(core.buffer, core.buffer.y)
    return save(params)
  }
  handler.restoreCursor = (params) => {
    core.buffer.savedY = core.buffer.ybase + savedRow(core.buffer)
    const isRestored = restore(params)
    const { _charsetService: charsets } = core
    charsets.setgCharset(charsets.glevel, charsets.charset)
    handler._curAttrData.updateExtended()
    return isRestored
  }
}
