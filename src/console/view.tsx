import { Now } from "./now/now.tsx"
import { lazily } from "./parts/lazily.tsx"
import type { Place } from "./place.ts"

const Start = lazily(async () => (await import("./start/start.tsx")).Start)
const Inbox = lazily(async () => (await import("./inbox/inbox.tsx")).Inbox)
const WorkView = lazily(async () => (await import("./work/work-view.tsx")).WorkView)
const ServiceView = lazily(
  async () => (await import("./service-view/service-view.tsx")).ServiceView,
)
const Execution = lazily(async () => (await import("./execution/execution.tsx")).Execution)

export function View({ place }: { place: Place }) {
  switch (place.kind) {
    case "now":
      return <Now />
    case "start":
      return <Start />
    case "execution":
      return <Execution key={place.id} id={place.id} line={place.line} part={place.part} />
    case "inbox":
      return <Inbox question={place.question} />
    case "work":
      return <WorkView />
    case "service":
      return <ServiceView />
    case "unknown":
      return (
        <section>
          <h1>Nothing here</h1>
          <p>
            This address leads nowhere. <a href="#/">See what runs now</a>.
          </p>
        </section>
      )
  }
}
