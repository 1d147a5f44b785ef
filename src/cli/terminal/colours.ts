import type { Environment, Output } from "../context.ts"
import { type Colour, coloured, type Text } from "./terminal-text.ts"

export type Paint = (text: string) => Text
export type Colours = Record<Colour, Paint>

/** Colours where they can be seen and are wanted; see no-color.org. */
export function coloursFor(output: Output, env: Environment): Colours {
  const isWanted = isLively(output, env) && (env["NO_COLOR"] ?? "") === ""
  const paint = (colour: Colour): Paint =>
    isWanted ? (text) => (text === "" ? "" : coloured(colour, text)) : (text) => text
  return {
    green: paint("green"),
    red: paint("red"),
    yellow: paint("yellow"),
    cyan: paint("cyan"),
    dim: paint("dim"),
    bold: paint("bold"),
  }
}

/** Whether a person looks at a terminal that can do more than print lines. */
export function isLively(output: Output, env: Environment): boolean {
  return output.isTty && (env["CI"] ?? "") === "" && env["TERM"] !== "dumb"
}
