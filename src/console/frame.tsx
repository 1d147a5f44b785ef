import { useComputed, useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { useEffect, useRef } from "preact/hooks"
import { secret } from "./access/secret.ts"
import { useConsole } from "./live/use-console.ts"
import { ConnectionNote } from "./parts/connection-note.tsx"
import { addressOf, type Place, placeOf } from "./place.ts"
import { View } from "./view.tsx"

/** What stands around every view: where one can go, and whether the service is there. */
export function Frame({ signOut }: { signOut: () => Promise<void> }) {
  const { questions, greeting } = useConsole()
  const place = useSignal<Place>(placeOf(location.hash))
  const main = useRef<HTMLElement>(null)
  useEffect(() => {
    const moved = () => {
      const before = place.value
      place.value = placeOf(location.hash)
      // Whoever cannot see that the page has changed is led to what is new; not within one view.
      if (JSON.stringify(named(before)) !== JSON.stringify(named(place.value)))
        main.current?.focus()
    }
    moved() // the address may have changed since this was first drawn
    window.addEventListener("hashchange", moved)
    return () => window.removeEventListener("hashchange", moved)
  }, [])
  const open = useComputed(() => questions.inbox.value.questions.length)
  const count = open.value
  useEffect(() => {
    document.title = count === 0 ? "cc-executor" : `(${count}) cc-executor`
  }, [count])
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => skip(event, main.current)}>
        Skip to the content
      </a>
      <header class="top">
        <nav aria-label="Views">
          <NavigationLink to={{ kind: "now" }} at={place.value}>
            Now
          </NavigationLink>
          <NavigationLink to={{ kind: "inbox", question: null }} at={place.value}>
            Inbox{count > 0 && <span class="count">{count}</span>}
          </NavigationLink>
          <NavigationLink to={{ kind: "work" }} at={place.value}>
            Work
          </NavigationLink>
          <NavigationLink to={{ kind: "service" }} at={place.value}>
            Service
          </NavigationLink>
        </nav>
        <span class="who">
          {greeting.value?.principal}
          {secret.read() !== null && (
            <button type="button" onClick={() => void signOut()}>
              Sign out
            </button>
          )}
        </span>
      </header>
      <ConnectionNote />
      <main id="main" ref={main} tabIndex={-1}>
        <View place={place.value} />
      </main>
    </>
  )
}

function NavigationLink(props: {
  to: Exclude<Place, { kind: "unknown" }>
  at: Place
  children: ComponentChildren
}) {
  const { to, at, children } = props
  const isHere = to.kind === at.kind || (to.kind === "now" && at.kind === "start")
  return (
    <a href={addressOf(to)} aria-current={isHere ? "page" : undefined}>
      {children}
    </a>
  )
}

/** The address keeps saying where one is. */
function skip(event: Event, main: HTMLElement | null): void {
  event.preventDefault()
  main?.focus()
}

/** Of a place, what makes it another view. */
function named(place: Place) {
  return place.kind === "execution"
    ? { kind: place.kind, id: place.id, part: place.part }
    : place.kind
}
