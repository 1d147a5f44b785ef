import { fieldSpans, type Span, wholeSpan } from "./json-spans.ts"
import { type Fields, isFields, type RequestMessage } from "./message.ts"

/**
 * Adds fields to the `_meta` of a request, unless it has them. The rest of its text stays exactly
 * as it was.
 */
export function withMeta(request: RequestMessage, meta: Fields): RequestMessage {
  const had = request.params["_meta"]
  const missing = Object.entries(meta).filter(
    ([name]) => !isFields(had) || !Object.hasOwn(had, name),
  )
  if (missing.length === 0) return request
  const text = textWithMeta(request.text, Object.fromEntries(missing))
  if (text === null) return request
  const params = { ...request.params, _meta: { ...(isFields(had) ? had : {}), ...meta } }
  return { ...request, text, params }
}

/** Null where the parameters, or their `_meta`, are not an object. */
function textWithMeta(text: string, meta: Fields): string | null {
  const whole = wholeSpan(text)
  const params = fieldSpans(text, whole).get("params")
  if (params === undefined) return insertField(text, whole, "params", { _meta: meta })
  if (text[params.start] !== "{") return null
  const had = fieldSpans(text, params).get("_meta")
  if (had === undefined) return insertField(text, params, "_meta", meta)
  if (text[had.start] !== "{") return null
  return Object.entries(meta).reduce(
    // Insertions come after the start of the span, which stays valid.
    (changed, [name, value]) => insertField(changed, had, name, value),
    text,
  )
}

function insertField(text: string, object: Span, name: string, value: unknown): string {
  const at = object.start + 1
  const end = /\s*\}/y
  end.lastIndex = at
  const isEmpty = end.test(text)
  const field = `${JSON.stringify(name)}:${JSON.stringify(value)}${isEmpty ? "" : ","}`
  return text.slice(0, at) + field + text.slice(at)
}
