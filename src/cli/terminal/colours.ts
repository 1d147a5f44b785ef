import type { Environment, Output } from "../context.ts"

export type Paint = (text: string) => string
export type Colours = Record<"green" | "red" | "yellow" | "cyan" | "dim" | "bold", Paint>

/** Colours where they can be seen and are wanted; see no-color.org. */
export function coloursFor(output: Output, env: Environment): Colours {
  const isWanted = isLively(output, env) && (env["NO_COLOR"] ?? "") === ""
  const paint = (code: number): Paint =>
    isWanted ? (text) => (text === "" ? "" : `\x1b[${code}m${text}\x1b[0m`) : (text) => text
  return {
    green: paint(32),
    red: paint(31),
    yellow: paint(33),
    cyan: paint(36),
    dim: paint(2),
    bold: paint(1),
  }
}

/** Whether a person looks at a terminal that can do more than print lines. */
export function isLively(output: Output, env: Environment): boolean {
  return output.isTty && (env["CI"] ?? "") === "" && env["TERM"] !== "dumb"
}
