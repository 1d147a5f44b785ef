import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import type { z } from "zod"
import { errnoOf } from "../../lib/errno.ts"
import { UpgradeReport, UpgradeRequest } from "../../protocol/upgrade.ts"
import { giveToOwnerOfFolder } from "./state-directory.ts"
import { statePathsIn } from "./state-paths.ts"

/** The two files by which an upgrade is asked for and followed; only their owner reads them. */
export class UpgradeFiles {
  readonly #requestPath: string
  readonly #reportPath: string

  constructor(stateDir: string) {
    const { upgradeRequest, upgradeReport } = statePathsIn(stateDir)
    this.#requestPath = upgradeRequest
    this.#reportPath = upgradeReport
  }

  /** Whether it could be asked. */
  ask(request: UpgradeRequest): boolean {
    replaceFile(this.#requestPath, request)
    return this.isAsked
  }

  get isAsked(): boolean {
    return existsSync(this.#requestPath)
  }

  /** What was asked; once answered it is gone. Null when nothing was, or nothing readable. */
  takeRequest(): UpgradeRequest | null {
    const request = readFile(this.#requestPath, UpgradeRequest)
    rmSync(this.#requestPath, { force: true })
    return request
  }

  report(report: UpgradeReport): void {
    replaceFile(this.#reportPath, report)
  }

  /** The last word on an attempt; null when there is none yet. */
  reported(upgrade: string): UpgradeReport | null {
    const report = readFile(this.#reportPath, UpgradeReport)
    return report?.upgrade === upgrade ? report : null
  }
}

function replaceFile(path: string, value: UpgradeRequest | UpgradeReport): void {
  try {
    writeFileSync(`${path}.new`, JSON.stringify(value), { mode: 0o600 })
    giveToOwnerOfFolder(`${path}.new`)
    renameSync(`${path}.new`, path)
  } catch (error) {
    // A service must not fail because it cannot tell; its log says what this would have.
    if (errnoOf(error) === null) throw error
  }
}

function readFile<Value>(path: string, schema: z.ZodType<Value>): Value | null {
  try {
    return schema.safeParse(JSON.parse(readFileSync(path, "utf8"))).data ?? null
  } catch (error) {
    if (error instanceof SyntaxError || errnoOf(error) !== null) return null
    throw error
  }
}
