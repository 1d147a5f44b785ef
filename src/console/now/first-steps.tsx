import { useConsole } from "../live/use-console.ts"

/** What a person sees when there is nothing yet: how it begins, from here and from elsewhere. */
export function FirstSteps() {
  const { canExecute } = useConsole()
  return (
    <section class="first-steps">
      <h1>Nothing has run here yet</h1>
      {canExecute.value ? (
        <p>
          <a class="button" href="#/start">
            Start something
          </a>{" "}
          from this page, or from a terminal:
        </p>
      ) : (
        <p>Your token lets you look on. Whoever may start something does it from a terminal:</p>
      )}
      <dl>
        <dt>A command that goes on without you</dt>
        <dd>
          <pre tabIndex={0}>cc-executor run -d -- make test</pre>
        </dd>
        <dt>A session of Claude Code</dt>
        <dd>
          <pre tabIndex={0}>cc-executor claude -d "Find out why the tests fail."</pre>
          Its questions come to the inbox: answer them here, from any browser.
        </dd>
        <dt>From an assistant, over MCP</dt>
        <dd>
          <pre tabIndex={0}>cc-executor mcp install</pre>
        </dd>
      </dl>
      <p>Whatever is started, from wherever, appears on this page at once.</p>
    </section>
  )
}
