/** Twice leaves the terminal, as it does with `cc-executor attach`; once goes to the program. */
export const leaveKey = { name: "Ctrl-]", sent: "\u001d" }

type Key = Pick<KeyboardEvent, "key" | "code" | "ctrlKey">

/** Every key but this leads into the program, Tab included: without it, nobody gets out again. */
export class LeaveKeys {
  #isHeld = false

  /** `held`: not known yet what it is for; `after-held`: the one before was for the program. */
  press({ key, code, ctrlKey }: Key): "leave" | "held" | "after-held" | "for-program" {
    if (modifiers.has(key)) return "for-program"
    const isOurs = ctrlKey && (key === "]" || code === "BracketRight")
    const wasHeld = this.#isHeld
    this.#isHeld = isOurs && !wasHeld
    if (isOurs) return wasHeld ? "leave" : "held"
    return wasHeld ? "after-held" : "for-program"
  }
}

const modifiers = new Set(["Control", "Shift", "Alt", "AltGraph", "Meta"])
