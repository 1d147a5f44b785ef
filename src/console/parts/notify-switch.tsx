import { useSignal } from "@preact/signals"
import { ignoreUnhandledRejection } from "../../lib/ignore-unhandled-rejection.ts"
import { showNote } from "./browser-note.ts"

/** Asks the browser whether it may tell of questions and ends while nobody looks. */
export function NotifySwitch() {
  const permission = useSignal(permissionNow())
  const works = useSignal(true)
  if (permission.value === null) return null
  if (!works.value) return <span class="quiet">This browser tells nobody anything for a page.</span>
  if (permission.value === "denied") {
    return <span class="quiet">The browser's settings forbid this page to tell you anything.</span>
  }
  if (permission.value === "granted") {
    return <span class="quiet">The browser tells you of questions and ends.</span>
  }
  const ask = async () => {
    permission.value = await Notification.requestPermission()
    if (permission.value !== "granted") return
    // So it is seen what it will be like, and that it works.
    const body = "Questions and ends are told like this, while you look elsewhere."
    works.value = showNote({ title: "cc-executor", body, place: { kind: "now" } })
  }
  return (
    <button type="button" onClick={() => ignoreUnhandledRejection(ask())}>
      Tell me in the browser
    </button>
  )
}

/** Null where there is no such thing: without TLS, on another machine's address. */
function permissionNow(): NotificationPermission | null {
  return "Notification" in window && window.isSecureContext ? Notification.permission : null
}
