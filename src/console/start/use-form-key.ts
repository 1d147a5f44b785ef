import { useRef } from "preact/hooks"
import { randomName } from "../../client/random-name.ts"

/**
 * A form that is sent again as it was, because no answer came, starts nothing a second time; one
 * that was changed is another wish.
 */
export function useFormKey(): { current: () => string; changed: () => void } {
  const key = useRef<string | null>(null)
  return {
    current: () => (key.current ??= randomName()),
    changed: () => void (key.current = null),
  }
}
