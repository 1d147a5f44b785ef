import { render } from "preact"
import { reading } from "./access/no-eval.ts"
import { App } from "./app.tsx"

if (reading.jitless === true) render(<App />, document.body)
