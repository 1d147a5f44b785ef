import type { ConsolePage } from "./console-page.ts"

/** What a browser shows of a page outside of it, and how it is permitted, seen and pressed. */
export class BrowserNotes {
  readonly #page: ConsolePage

  private constructor(page: ConsolePage) {
    this.#page = page
  }

  /** As a person would permit it, who is asked. */
  static async permit(page: ConsolePage): Promise<BrowserNotes> {
    const { targetInfo } = await page.ask("Target.getTargetInfo")
    const { browserContextId } = targetInfo
    const origin: string = await page.evaluate("location.origin")
    const permissions = ["notifications"]
    await page.ask("Browser.grantPermissions", { origin, permissions, browserContextId })
    await page.evaluate(noteNotifications)
    return new BrowserNotes(page)
  }

  /** At least one. */
  async whenShown(): Promise<{ title: string; body: string }[]> {
    await this.#page.when("a notification is shown", "window.shownNotes.length > 0")
    return this.#page.evaluate("window.shownNotes.map(({ title, body }) => ({ title, body }))")
  }

  /** Presses the last of them. */
  async click(): Promise<void> {
    await this.#page.evaluate("window.shownNotes.at(-1).dispatchEvent(new Event('click'))")
  }
}

/** Puts the window away: nobody looks at the page. */
export async function hide(page: ConsolePage): Promise<void> {
  const { windowId } = await page.ask("Browser.getWindowForTarget")
  await page.ask("Browser.setWindowBounds", { windowId, bounds: { windowState: "minimized" } })
  await page.when("it is hidden", "document.hidden")
}

/** The browser's own, which can be neither read nor pressed from outside. */
const noteNotifications = `
  window.shownNotes = []
  window.Notification = class extends Notification {
    constructor(...given) {
      super(...given)
      this.addEventListener("show", () => window.shownNotes.push(this))
    }
  }`
