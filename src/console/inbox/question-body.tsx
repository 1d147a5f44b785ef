import { changedLines } from "../../client/messages/changed-lines.ts"
import { inputFields, textField } from "../../client/messages/tool-input.ts"
import { harmless, onOneLine } from "../../lib/harmless-text.ts"
import { bytesText } from "../parts/format.ts"

/** Exactly what a tool is to be used with: a command as it is, a change as a change. */
export function ToolInput(props: {
  tool: string | null
  input: unknown
  bytes?: number | undefined
}) {
  const { tool, input, bytes } = props
  if (bytes !== undefined) return <p>{bytesText(bytes)} of input: see its events.</p>
  const { description: _, ...fields } = inputFields(input)
  const [command] = textField(fields, "command")
  const [path] = textField(fields, "file_path")
  const [content] = textField(fields, "content")
  const [before] = textField(fields, "old_string")
  const [after] = textField(fields, "new_string")
  const shown = new Set<string>()
  const take = (...names: string[]) => names.forEach((name) => shown.add(name))
  const isEdit = tool === "Edit" && before !== undefined && after !== undefined
  const isWrite = tool === "Write" && content !== undefined
  if (command !== undefined) take("command")
  if (isEdit || isWrite) take("file_path", "content", "old_string", "new_string")
  return (
    <>
      {command !== undefined && <pre tabIndex={0}>{harmless(command)}</pre>}
      {(isEdit || isWrite) && <p class="path">{onOneLine(path ?? "")}</p>}
      {isEdit && <Diff lines={changedLines(before, after)} />}
      {isWrite && <Diff lines={changedLines("", content)} />}
      {Object.entries(fields)
        .filter(([name]) => !shown.has(name))
        .map(([name, value]) => (
          <div key={name} class="field">
            <span class="quiet">{onOneLine(name)}</span>
            <pre tabIndex={0}>
              {harmless(typeof value === "string" ? value : JSON.stringify(value, null, 2))}
            </pre>
          </div>
        ))}
    </>
  )
}

const mostLines = 400

/** Lines behind ` `, `-` or `+`, which say without colour what changes. */
function Diff({ lines }: { lines: readonly string[] }) {
  const left = lines.length - mostLines
  return (
    <pre class="diff" tabIndex={0}>
      {lines.slice(0, mostLines).map((text, index) => (
        <span key={index} class={kinds[text[0] ?? " "]}>
          {`${text[0] ?? " "} ${harmless(text.slice(1))}\n`}
        </span>
      ))}
      {left > 0 && <span class="quiet">… {left} more lines</span>}
    </pre>
  )
}

const kinds: Record<string, string> = { "+": "added", "-": "removed", "@": "quiet" }
