import { browserCommand } from "./browser.ts"
import { Devtools, type Told } from "./devtools.ts"
import { collectLines } from "./service.ts"
import { temporaryFolder } from "./temporary-folder.ts"
import { until } from "./until.ts"

export type Screen = { width: number; height: number; isPhone?: boolean; isDark?: boolean }

export const laptop: Screen = { width: 1280, height: 800 }
/** Of the narrowest one that is supported. */
export const phone: Screen = { width: 360, height: 740, isPhone: true }

/** A real browser, each page of which is in a window of its own, with its own storage. */
export class Chromium implements AsyncDisposable {
  readonly #devtools: Devtools
  readonly #process: Bun.Subprocess
  readonly #profile: ReturnType<typeof temporaryFolder>

  private constructor(
    devtools: Devtools,
    process: Bun.Subprocess,
    profile: ReturnType<typeof temporaryFolder>,
  ) {
    this.#devtools = devtools
    this.#process = process
    this.#profile = profile
  }

  static async start(names: readonly string[] = []): Promise<Chromium> {
    const profile = temporaryFolder()
    const args = ["--remote-debugging-port=0", "about:blank"]
    const browser = Bun.spawn({
      ...browserCommand(profile.path, names, args),
      stdio: ["ignore", "ignore", "pipe"],
    })
    const address = Promise.withResolvers<string>()
    void collectLines(browser.stderr, (line) => {
      const url = /DevTools listening on (ws:\S+)/.exec(line)?.[1]
      if (url !== undefined) address.resolve(url)
    }).then(() => address.reject(new Error("the browser ended")))
    address.promise.catch(() => undefined)
    return new Chromium(await Devtools.connect(await address.promise), browser, profile)
  }

  async open(url: string, screen: Screen = laptop): Promise<ConsolePage> {
    const { browserContextId } = await this.#devtools.call("Target.createBrowserContext")
    const { targetId } = await this.#devtools.call("Target.createTarget", {
      url: "about:blank",
      browserContextId,
    })
    const attach = { targetId, flatten: true }
    const { sessionId } = await this.#devtools.call("Target.attachToTarget", attach)
    const page = new ConsolePage((method, params) => this.#devtools.call(method, params, sessionId))
    this.#devtools.listen(sessionId, (method, params) => page.hear(method, params))
    await page.prepare(screen)
    await page.goTo(url)
    return page
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#devtools[Symbol.asyncDispose]()
    this.#process.kill("SIGTERM")
    await this.#process.exited
    this.#profile[Symbol.dispose]()
  }
}

type Ask = (method: string, params?: object) => Promise<Told>

/** How a page is used by hand and eye: what it shows is waited for, what is pressed is there. */
export class ConsolePage implements AsyncDisposable {
  /** What a person would find in the browser's own console: errors, and what a policy refused. */
  readonly complaints: string[] = []
  /** Every address that was asked for. */
  readonly requested: string[] = []
  readonly #ask: Ask

  constructor(ask: Ask) {
    this.#ask = ask
  }

  async prepare({ width, height, isPhone = false, isDark = false }: Screen): Promise<void> {
    await Promise.all(
      ["Page", "Runtime", "Log", "Network"].map((one) => this.#ask(`${one}.enable`)),
    )
    await this.#ask("Emulation.setDeviceMetricsOverride", {
      width,
      height,
      deviceScaleFactor: isPhone ? 2 : 1,
      mobile: isPhone,
    })
    await this.setTheme(isDark ? "dark" : "light")
    await this.#ask("Page.addScriptToEvaluateOnNewDocument", { source: noteViolations })
  }

  async setTheme(theme: "light" | "dark"): Promise<void> {
    const features = [{ name: "prefers-color-scheme", value: theme }]
    await this.#ask("Emulation.setEmulatedMedia", { features })
  }

  hear(method: string, params: Told): void {
    if (method === "Runtime.exceptionThrown") {
      const { text, exception } = params.exceptionDetails
      this.complaints.push(`${text} ${exception?.description ?? ""}`)
    }
    if (method === "Runtime.consoleAPICalled" && params.type === "error") {
      this.complaints.push(params.args.map(({ value }: Told) => String(value)).join(" "))
    }
    if (method === "Log.entryAdded" && params.entry.level === "error") {
      this.complaints.push(`${params.entry.text} ${params.entry.url ?? ""}`)
    }
    if (method === "Network.requestWillBeSent") this.requested.push(params.request.url)
    if (method === "Fetch.requestPaused") {
      const lost = { requestId: params.requestId, errorReason: "ConnectionReset" }
      void this.#ask("Fetch.failRequest", lost)
    }
    if (method === "Network.webSocketCreated") this.requested.push(params.url)
  }

  ask(method: string, params: object = {}): Promise<Told> {
    return this.#ask(method, params)
  }

  async goTo(url: string): Promise<string | undefined> {
    const { errorText } = await this.#ask("Page.navigate", { url })
    if (errorText !== undefined) return errorText
    const isThere = `location.href === ${JSON.stringify(url)} && document.readyState === "complete"`
    await this.when(`${url} is loaded`, isThere)
    return undefined
  }

  /** From now on, the connection breaks when the service has answered, and before the page hears it. */
  async loseAnswers(urlPattern: string): Promise<void> {
    await this.#ask("Fetch.enable", { patterns: [{ urlPattern, requestStage: "Response" }] })
  }

  async loseNoAnswers(): Promise<void> {
    await this.#ask("Fetch.disable")
  }

  /** The value of an expression in the page; a promise is awaited. */
  async evaluate(expression: string): Promise<Told> {
    const asked = { expression, awaitPromise: true, returnByValue: true, userGesture: true }
    const { result, exceptionDetails } = await this.#ask("Runtime.evaluate", asked)
    if (exceptionDetails === undefined) return result.value
    throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
  }

  /** All that can be read. */
  text(): Promise<string> {
    return this.evaluate("document.body?.innerText ?? ''")
  }

  whenText(expected: string | RegExp, limitMs?: number): Promise<string> {
    const isThere = (text: string) =>
      typeof expected === "string" ? text.includes(expected) : expected.test(text)
    return this.#until(
      `the page shows ${expected}`,
      async () => {
        const text = await this.text()
        return isThere(text) ? text : false
      },
      limitMs,
    )
  }

  async when(what: string, expression: string, limitMs?: number): Promise<Told> {
    return this.#until(what, () => this.evaluate(expression), limitMs)
  }

  /** Notes, from frame to frame, what an expression is, until it is asked what was noted. */
  async note(expression: string): Promise<void> {
    await this.evaluate(`{
      window.noted = new Set()
      const look = () => {
        if (window.noted === null) return
        window.noted.add(${expression})
        requestAnimationFrame(look)
      }
      look()
    }`)
  }

  /** All it has been since, each once. */
  async noted(): Promise<unknown[]> {
    const all = await this.evaluate("[...window.noted]")
    await this.evaluate("window.noted = null")
    return all
  }

  /** A test that fails says what the page showed instead. */
  async #until<Fact>(
    what: string,
    look: () => Promise<Fact | false>,
    limitMs?: number,
  ): Promise<Fact> {
    try {
      return await until(what, look, limitMs)
    } catch (error) {
      const shown = `${await this.evaluate("location.href")}\n${await this.text()}`
      const complaints = this.complaints.join("\n")
      throw new Error(`${what}, but at ${shown.slice(0, 1500)}\n${complaints}`, { cause: error })
    }
  }

  /** Presses what is called so, where it stands. */
  async click(selector: string, name?: string): Promise<void> {
    const { x, y } = await this.when(
      `${selector} ${name ?? ""} can be clicked`,
      `(${placeOfControl})(${JSON.stringify(selector)}, ${JSON.stringify(name)})`,
    )
    const at = { x, y, button: "left", clickCount: 1 }
    await this.#ask("Input.dispatchMouseEvent", { type: "mousePressed", ...at })
    await this.#ask("Input.dispatchMouseEvent", { type: "mouseReleased", ...at })
  }

  /** Types into a field as a keyboard would put it there, in the place of what it had. */
  async fill(selector: string, text: string): Promise<void> {
    await this.when(
      `${selector} is there`,
      `document.querySelector(${JSON.stringify(selector)}) !== null`,
    )
    await this.evaluate(`(() => {
      const field = document.querySelector(${JSON.stringify(selector)})
      field.focus()
      field.select?.()
    })()`)
    if (text === "") await this.press("Delete")
    else await this.#ask("Input.insertText", { text })
  }

  async press(key: string, held: keyof typeof heldKeys = "none"): Promise<void> {
    const text = key === "Enter" ? "\r" : key.length === 1 ? key : undefined
    const code = keyCodes[key] ?? (/[\w ]/.test(key) ? key.toUpperCase().charCodeAt(0) : 0)
    const modifiers = heldKeys[held]
    const typed = text === undefined || modifiers !== 0 ? {} : { text }
    const pressed = { key, code: key, windowsVirtualKeyCode: code, modifiers, ...typed }
    await this.#ask("Input.dispatchKeyEvent", { type: "keyDown", ...pressed })
    await this.#ask("Input.dispatchKeyEvent", { type: "keyUp", ...pressed })
  }

  /** As a person would permit it, who is asked. */
  async permitNotifications(): Promise<void> {
    const { targetInfo } = await this.#ask("Target.getTargetInfo")
    const { browserContextId } = targetInfo
    const origin: string = await this.evaluate("location.origin")
    const permissions = ["notifications"]
    await this.#ask("Browser.grantPermissions", { origin, permissions, browserContextId })
    await this.evaluate(noteNotifications)
  }

  /** Until somebody looks again: the window is put away. */
  async hide(): Promise<void> {
    const { windowId } = await this.#ask("Browser.getWindowForTarget")
    await this.#ask("Browser.setWindowBounds", { windowId, bounds: { windowState: "minimized" } })
    await this.when("it is hidden", "document.hidden")
  }

  /** What the browser has shown of the page, outside of it. */
  notifications(): Promise<{ title: string; body: string }[]> {
    return this.evaluate("window.shownNotes.map(({ title, body }) => ({ title, body }))")
  }

  /** Presses the last of them. */
  async clickNotification(): Promise<void> {
    await this.evaluate("window.shownNotes.at(-1).dispatchEvent(new Event('click'))")
  }

  /** Goes on with Tab to what is called so, as somebody without a mouse; each stop must be seen. */
  async tabTo(name: string): Promise<void> {
    const passed: string[] = []
    for (let stops = 0; stops < 60; stops += 1) {
      const { called, isSeen } = await this.evaluate(`(${focusedControl})()`)
      if (called !== "" && !isSeen) throw new Error(`it is not seen that ${called} has the focus`)
      if (called === name) return
      passed.push(called)
      await this.press("Tab")
    }
    throw new Error(`Tab does not reach ${name}, only ${[...new Set(passed)].join(", ")}`)
  }

  async type(text: string): Promise<void> {
    for (const key of text) await this.press(key)
  }

  async screenshot(path: string): Promise<void> {
    const { data } = await this.#ask("Page.captureScreenshot", { format: "png" })
    await Bun.write(path, Buffer.from(data, "base64"))
  }

  /** What the page's script holds, once all garbage is gone. */
  async heapBytes(): Promise<number> {
    await this.#ask("HeapProfiler.enable")
    await this.#ask("HeapProfiler.collectGarbage")
    return (await this.#ask("Runtime.getHeapUsage")).usedSize
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ask("Page.close")
  }

  violations(): Promise<string[]> {
    return this.evaluate("window.violations")
  }
}

const heldKeys = { none: 0, ctrl: 2, shift: 8 }

const keyCodes: Record<string, number> = {
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

const noteViolations = `
  window.violations = []
  addEventListener("securitypolicyviolation", (event) =>
    window.violations.push(event.violatedDirective + " " + event.blockedURI + " " + event.sample))
`

/** Runs in the page: what has the focus, by its name, and whether that shows. */
const focusedControl = `() => {
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

/** The browser's own, which can be neither read nor pressed from outside. */
const noteNotifications = `
  window.shownNotes = []
  window.Notification = class extends Notification {
    constructor(...given) {
      super(...given)
      this.addEventListener("show", () => window.shownNotes.push(this))
    }
  }`

/** Runs in the page: the middle of a control that is there, shown and enabled. */
const placeOfControl = `(selector, name) => {
  const nameOf = (element) =>
    (element.getAttribute("aria-label") ?? element.textContent ?? "").trim()
  const found = [...document.querySelectorAll(selector)].find((element) =>
    !element.disabled && (name === undefined || nameOf(element) === name))
  if (found === undefined) return false
  found.scrollIntoView({ block: "nearest" })
  const { left, top, width, height } = found.getBoundingClientRect()
  return width === 0 ? false : { x: left + width / 2, y: top + height / 2 }
}`
