import { closeSync } from "node:fs"
import { z } from "zod"
import { withoutRuntimeVariables } from "../../../cli/runtime-variables.ts"
import { messageOf } from "../../../lib/errno.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { Handover } from "../../../protocol/handover.ts"
import { duplicate } from "../../os/libc.ts"
import {
  becomeProgram,
  holdEndSignals,
  letSignalsThrough,
  memoryFile,
  raiseHeldSignal,
  readMemoryFile,
} from "../../os/program-change.ts"
import type { NextProgram } from "../../os/tracing/watched-program.ts"

type Environment = Record<string, string | undefined>

/** What the next program in this process needs to read the handover, or to go back. */
const Inheritance = z.object({
  documentFd: z.int().min(0),
  programFd: z.int().min(0).describe("the program that hands over, whatever its file is by now"),
  self: z.array(z.string()).min(1).describe("how that one is started"),
  args: z.array(z.string()).describe("and with what"),
  descriptors: z.array(z.int().min(0)),
  umask: z.int().min(0).describe("meanwhile a signal may stand in its place"),
  failure: z.string().nullable().describe("why the next program could not go on"),
})
type Inheritance = z.infer<typeof Inheritance>

const handoverVariable = "CC_EXECUTOR_TAKE_OVER"

/**
 * Puts another program in this one's place, with all that it needs to go on. Should it not even
 * begin, this program begins anew, and is told why.
 */
export function handOverTo(
  program: readonly string[],
  args: readonly string[],
  handover: Handover,
  from: {
    programFd: number
    self: readonly string[]
    args: readonly string[]
    env: Environment
  },
): never {
  const [path = ""] = program
  const documentFd = memoryFile(Buffer.from(JSON.stringify(handover)))
  const inheritance: Inheritance = {
    documentFd,
    programFd: from.programFd,
    self: [...from.self],
    args: [...from.args],
    descriptors: [documentFd, from.programFd, ...descriptorsIn(handover)],
    umask: holdEndSignals(),
    failure: null,
  }
  try {
    return become(path, [...program, ...args], from.env, inheritance)
  } catch (error) {
    return returnToPrevious(inheritance, from.env, messageOf(error))
  }
}

/** What the previous program of this process handed over. */
export class ReceivedHandover {
  #inheritance: Inheritance
  #isAccepted = false

  constructor(inheritance: Inheritance) {
    this.#inheritance = inheritance
  }

  /** Why the program that was to take over did not: then this one is the one that handed over. */
  get failure(): string | null {
    return this.#inheritance.failure
  }

  /** How to start this program again, where it is the one that handed over; else null. */
  get self(): string[] | null {
    return this.failure === null ? null : this.#inheritance.self
  }

  /** Whether this program was not only given another's place, but other settings than it had. */
  hasOtherSettings(args: readonly string[]): boolean {
    return this.failure === null && !Bun.deepEquals(args, this.#inheritance.args)
  }

  read(): Result<Handover, string> {
    const text = new TextDecoder().decode(readMemoryFile(this.#inheritance.documentFd))
    const read = Handover.safeParse(JSON.parse(text))
    if (read.success) return ok(read.data)
    return fail(`The handover could not be read: ${z.prettifyError(read.error)}`)
  }

  /** Whether the program before this one can still go on in its place. */
  get canGoBack(): boolean {
    return !this.#isAccepted && this.failure === null
  }

  /**
   * From now on this program is the one, and signals reach it. `commit` is the one deed that the
   * previous program could not go on after: whoever watches must not put that one back behind it,
   * so the watch ends before. If it throws, nothing was done, and there is a way back still.
   */
  accept(commit: () => void): void {
    const { documentFd, descriptors } = this.#inheritance
    const kept = duplicate(documentFd)
    this.#inheritance = {
      ...this.#inheritance,
      documentFd: kept,
      descriptors: [...descriptors.filter((fd) => fd !== documentFd), kept],
    }
    closeSync(documentFd) // by which those who watch know
    commit()
    this.#isAccepted = true
    closeSync(kept)
    closeSync(this.#inheritance.programFd)
    letSignalsThrough()
  }

  /** Nothing has been done yet, so the previous program can continue. At most once. */
  returnUnlessAccepted(env: Environment, why: string): void {
    if (!this.canGoBack) return
    returnToPrevious(this.#inheritance, env, why)
  }
}

/** Null when this process had no program before. The variable is for nobody else to see. */
export function receiveHandover(env: Environment): ReceivedHandover | null {
  const text = env[handoverVariable]
  delete env[handoverVariable]
  if (text === undefined) return null
  const inheritance = Inheritance.parse(JSON.parse(text))
  raiseHeldSignal(inheritance.umask)
  return new ReceivedHandover(inheritance)
}

/**
 * For whoever watches it from outside: what the environment of a program that has just begun says
 * of it. Null when it is the one that handed over: there is none to go back to.
 */
export function nextProgramIn(environment: Uint8Array): NextProgram | null {
  // Bytes, not characters: others of its variables may hold any.
  const variables = Buffer.from(environment).toString("latin1").split("\0").filter(Boolean)
  const prefix = `${handoverVariable}=`
  const own = variables.find((one) => one.startsWith(prefix))
  if (own === undefined) return null
  const text = Buffer.from(own.slice(prefix.length), "latin1").toString()
  const inheritance = Inheritance.parse(JSON.parse(text))
  if (inheritance.failure !== null) return null
  const others = variables.filter((one) => one !== own).map((one) => Buffer.from(one, "latin1"))
  return {
    acceptedBy: inheritance.documentFd,
    previous(why) {
      const back = wayBack(inheritance, why)
      const told = Buffer.from(`${prefix}${JSON.stringify(back.inheritance)}`)
      return {
        path: back.path,
        argv: back.argv.map((word) => Buffer.from(word)),
        env: [...others, told],
        descriptors: inheritance.descriptors,
      }
    },
  }
}

function returnToPrevious(inheritance: Inheritance, env: Environment, failure: string): never {
  const back = wayBack(inheritance, failure)
  holdEndSignals()
  return become(back.path, back.argv, env, back.inheritance)
}

/** It travels in a variable, and those have a bound. */
const longestFailure = 2000

function wayBack(inheritance: Inheritance, failure: string) {
  return {
    path: `/proc/self/fd/${inheritance.programFd}`,
    argv: [...inheritance.self, ...inheritance.args],
    inheritance: { ...inheritance, failure: failure.slice(0, longestFailure) },
  }
}

function become(
  path: string,
  argv: readonly string[],
  env: Environment,
  inheritance: Inheritance,
): never {
  const variables = { [handoverVariable]: JSON.stringify(inheritance) }
  // Else it would replace itself once more to be rid of those, and lose what it was given.
  const own = withoutRuntimeVariables(env) ?? env
  return becomeProgram(path, argv, { ...own, ...variables }, inheritance.descriptors)
}

function descriptorsIn({ lockFd, executions }: Handover): number[] {
  const ofChildren = executions.flatMap(({ child }) => [
    ...child.outputs.map(({ fd }) => fd),
    child.input?.fd ?? null,
    child.status?.fd ?? null,
  ])
  return [...new Set([lockFd, ...ofChildren.filter((fd) => fd !== null)])]
}
