import { useSignal } from "@preact/signals"
import { Terminal as Emulator } from "@xterm/xterm"
import { useEffect, useRef } from "preact/hooks"
import { messageOf } from "../../lib/errno.ts"
import { ignoreUnhandledRejection } from "../../lib/ignore-unhandled-rejection.ts"
import type { ExecutionView } from "../../protocol/execution-view.ts"
import { useConsole } from "../live/use-console.ts"
import { draw } from "./draw.ts"
import { LeaveKeys, leaveKey } from "./leave-keys.ts"
import { openScreen } from "./screen-source.ts"
import { withStyleSheets } from "./style-sheets.ts"

/** A terminal execution as it looks, watched or typed into. */
export function TerminalScreen({ view }: { view: ExecutionView }) {
  const { client, canControl } = useConsole()
  const { execution_id: id, terminal: size } = view
  const box = useRef<HTMLDivElement>(null)
  const emulator = useRef<Emulator | null>(null)
  const typingBox = useRef<HTMLInputElement>(null)
  const isTyping = useSignal(false)
  const failure = useSignal<string | null>(null)
  const mayType = canControl.value && view.state !== "ended"

  useEffect(() => {
    const { current } = box
    if (current === null || size === null) return
    using opened = new DisposableStack()
    const made = new Emulator({
      ...size,
      disableStdin: true,
      screenReaderMode: true,
      scrollback: 5000,
      fontFamily: getComputedStyle(current).fontFamily,
      fontSize: 13,
      theme: { background: "#16181b", foreground: "#dde1e6" },
    })
    opened.defer(() => made.dispose())
    emulator.current = made
    opened.use(withStyleSheets(() => made.open(current)))
    const input = client.input(id)
    const write = (data: string | Uint8Array) => {
      if (!isTyping.value) return
      const written = input
        .write(data)
        .catch((error: unknown) => (failure.value = messageOf(error)))
      ignoreUnhandledRejection(written)
    }
    const leaving = new LeaveKeys()
    made.attachCustomKeyEventHandler((event) => {
      // Who only looks on goes past with Tab.
      if (!isTyping.value) return false
      if (event.type !== "keydown") return true
      const meant = leaving.press(event)
      if (meant === "after-held") write(leaveKey.sent)
      if (meant === "leave") {
        type(false)
        typingBox.current?.focus()
      }
      if (meant === "leave" || meant === "held") event.preventDefault()
      return meant === "for-program" || meant === "after-held"
    })
    made.onData(write)
    made.onBinary((text) => write(Uint8Array.from(text, (one) => one.charCodeAt(0))))
    const closed = new AbortController()
    opened.defer(() => closed.abort())
    ignoreUnhandledRejection(show(made, closed.signal))
    const all = opened.move()
    return () => all.dispose()
  }, [id])

  const show = async (made: Emulator, closed: AbortSignal) => {
    try {
      const execution = await openScreen(client, id)
      closed.addEventListener("abort", () => ignoreUnhandledRejection(execution.detach()))
      for await (const event of execution.output()) {
        if (closed.aborted) return
        await draw(made, event)
      }
    } catch (error) {
      if (!closed.aborted) failure.value = messageOf(error)
    }
  }
  const type = (isOn: boolean) => {
    isTyping.value = isOn
    const { current } = emulator
    if (current === null) return
    current.options.disableStdin = !isOn
    if (isOn) current.focus()
  }
  const fit = () => {
    const { current } = emulator
    const element = box.current?.querySelector(".xterm-screen")
    if (current === null || box.current === null || !element) return
    const { width, height } = element.getBoundingClientRect()
    const cols = Math.max(20, Math.floor(box.current.clientWidth / (width / current.cols)))
    const rows = Math.max(5, Math.floor((window.innerHeight * 0.7) / (height / current.rows)))
    // Whether it becomes so large is told when it has.
    const resized = client.call("resize", { execution_id: id, cols, rows })
    ignoreUnhandledRejection(resized.catch((error: unknown) => (failure.value = messageOf(error))))
  }
  return (
    <section class="terminal" aria-label="Terminal">
      {mayType && (
        <div class="bar">
          <label class="check">
            <input
              ref={typingBox}
              type="checkbox"
              aria-describedby="leave-terminal"
              checked={isTyping.value}
              onChange={(event) => type(event.currentTarget.checked)}
            />
            Type into it
          </label>
          <button type="button" onClick={fit}>
            Fit to this window
          </button>
          <span id="leave-terminal" class="quiet">
            While you type into it, {leaveKey.name} {leaveKey.name} leaves it.
          </span>
        </div>
      )}
      {failure.value !== null && <p role="alert">{failure.value}</p>}
      <div class="screen" ref={box} />
    </section>
  )
}
