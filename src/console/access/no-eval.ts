import { config } from "zod"

/**
 * Schemas would try whether code may be made from text, and the page's policy would report that. To
 * be imported before any of them is made.
 */
export const reading = config({ jitless: true })
