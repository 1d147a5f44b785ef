import { addressOf, type Place } from "../place.ts"

type Note = { title: string; body: string; place: Exclude<Place, { kind: "unknown" }> }

/**
 * Has the browser tell something; a press on it leads to the place. False where the browser has no
 * such notes for pages, though it says otherwise: those of most phones.
 */
export function showNote({ title, body, place }: Note): boolean {
  const note = made(title, { body, tag: addressOf(place) })
  note?.addEventListener("click", () => {
    window.focus()
    location.hash = addressOf(place)
    note.close()
  })
  return note !== null
}

function made(title: string, options: NotificationOptions): Notification | null {
  try {
    return new Notification(title, options)
  } catch (error) {
    if (error instanceof TypeError) return null
    throw error
  }
}
