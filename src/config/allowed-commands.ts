import { type TextForm, textForm } from "./text-form.ts"

const allowed = "any, or names and absolute paths of programs"
const notation = "separated by commas; an empty list and none could be read either way"

/** The programs that may be executed; null is all of them. */
export function allowedCommands(): TextForm<string[] | null> {
  const read = (text: string) => {
    const word = text.toLowerCase()
    if (word === "any") return null
    // Whoever writes this may mean "no program" as well as "no list". Refusing is the one safe
    // reading: the other would open the service to everything.
    if (word === "none") return undefined
    const programs = text.split(",").map((program) => program.trim())
    return programs.every(isProgram) ? [...new Set(programs)] : undefined
  }
  return textForm("<programs>", allowed, read, notation)
}

function isProgram(program: string): boolean {
  if (program === "" || program.includes("\0")) return false
  return program.startsWith("/") || !program.includes("/")
}
