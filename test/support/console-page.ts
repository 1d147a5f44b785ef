import { browserCommand } from "./browser.ts"
import { Devtools, type Told } from "./devtools.ts"
import {
  focusedControl,
  heldKeys,
  keyCodes,
  noteViolations,
  placeOfControl,
} from "./page-scripts.ts"
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

  /** From now on, the connection breaks between the answer of the service and the page. */
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
