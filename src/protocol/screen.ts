import { z } from "zod"

const size = z.int().min(1)

export const ScreenForm = z
  .enum(["restore", "styled", "plain"])
  .describe(
    "`restore`: what brings a new terminal of this size to this state; `styled`: lines with " +
      "colours and nothing else; `plain`: lines of text",
  )
export type ScreenForm = z.infer<typeof ScreenForm>

/** How many lines above the screen the service keeps, at most. */
export const mostScrollbackLines = 1000

export const scrollback = z
  .int()
  .min(0)
  .max(mostScrollbackLines)
  .describe("lines above the screen, as far as they are kept")

const TerminalModes = z
  .object({
    application_cursor_keys: z.boolean().describe("arrow keys send ESC O, not ESC ["),
    application_keypad: z.boolean(),
    bracketed_paste: z.boolean(),
    focus_events: z.boolean(),
    mouse: z.enum(["none", "x10", "normal", "drag", "any"]),
    mouse_encoding: z.enum(["default", "sgr", "sgr-pixels"]),
  })
  .describe("what changes the bytes that keys, pastes and a mouse send")

/** What the terminal of an execution shows. */
export const Screen = z.object({
  cols: size,
  rows: size,
  cursor: z.object({ x: z.int(), y: z.int(), visible: z.boolean() }).describe("from 0"),
  alternate: z.boolean().describe("whether the alternate screen is shown"),
  title: z.string(),
  modes: TerminalModes,
  scrollback: z.int().describe("lines above the screen in `data`"),
  data: z.string().describe("the screen, in the form that was asked for"),
  complete: z
    .boolean()
    .describe("false if output before this screen was not read, so that something may be missing"),
})
export type Screen = z.infer<typeof Screen>
