import { useSignal } from "@preact/signals"
import { ignoreUnhandledRejection } from "../../lib/ignore-unhandled-rejection.ts"

/** Asks the browser whether it may tell of questions and ends while nobody looks. */
export function NotifySwitch() {
  const permission = useSignal(permissionNow())
  if (permission.value === null || permission.value === "denied") return null
  if (permission.value === "granted") {
    return <span class="quiet">The browser tells you of questions and ends.</span>
  }
  const ask = async () => {
    permission.value = await Notification.requestPermission()
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
