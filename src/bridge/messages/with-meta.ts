import { fieldSpans, type Span, wholeSpan } from "./json-spans.ts"
import { type Fields, isFields, type RequestMessage } from "./message.ts"

/**
 * Puts what it does not have yet into the `_meta` of a request. Everything else of its text stays
 * as it was, to the character.
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

/** Null where there is no room for it: parameters, or a `_meta`, that are no object. */
function textWithMeta(text: string, meta: Fields): string | null {
  const whole = wholeSpan(text)
  const params = fieldSpans(text, whole).get("params")
  if (params === undefined) return insertField(text, whole, "params", { _meta: meta })
  if (text[params.start] !== "{") return null
  const had = fieldSpans(text, params).get("_meta")
  if (had === undefined) return insertField(text, params, "_meta", meta)
  if (text[had.start] !== "{") return null
  return Object.entries(meta).reduce(
    // The span begins at the same place after each of them.
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
