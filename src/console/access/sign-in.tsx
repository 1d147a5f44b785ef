import { useEffect, useRef } from "preact/hooks"
import { useTask } from "../live/use-task.ts"
import { firstSentence, runsIn } from "./refusal.ts"
import { signIn } from "./secret.ts"

/** The first screen of whoever is not known by their connection. */
export function SignIn({ why, signedIn }: { why: string; signedIn: () => void }) {
  const field = useRef<HTMLInputElement>(null)
  const task = useTask()
  useEffect(() => field.current?.focus(), [])
  const submit = (event: Event) => {
    event.preventDefault()
    const token = field.current?.value.trim() ?? ""
    task.run(async () => {
      const refused = await signIn(token)
      if (refused !== null) throw new Error(refused)
      signedIn()
    })
  }
  return (
    <main class="sign-in">
      <h1>cc-executor</h1>
      <p>{firstSentence(why)}</p>
      <form onSubmit={submit}>
        <label for="token">Token</label>
        <input
          id="token"
          ref={field}
          type="password"
          autocomplete="off"
          spellcheck={false}
          required
          aria-describedby="token-how"
        />
        <button type="submit" disabled={task.isBusy}>
          Sign in
        </button>
        <p role="alert" class="failure">
          {task.failure}
        </p>
      </form>
      <section id="token-how">
        <h2>Where to get one</h2>
        {runsIn.value !== "container" && (
          <>
            <p>On the machine that runs the service, as its user:</p>
            <pre tabIndex={0}>cc-executor token create --name laptop</pre>
          </>
        )}
        {runsIn.value !== "machine" && (
          <>
            <p>
              {runsIn.value === "container"
                ? "The service runs in a container: "
                : "In a container: "}
              on the machine with the container, with its name for <code>CONTAINER</code>:
            </p>
            <pre tabIndex={0}>docker exec CONTAINER cc-executor token create --name laptop</pre>
          </>
        )}
        <p>
          The token itself is not kept. This window gets a secret of its own that ends within twelve
          hours, when the window is closed or when you sign out.
        </p>
      </section>
    </main>
  )
}
