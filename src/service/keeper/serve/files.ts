import type { SettingFiles } from "../../../cli/context.ts"
import type { Config } from "../../../config/config.ts"
import { readTlsMaterial } from "../../gateway/listen/tls-material.ts"
import { redactionOf, tlsFiles } from "./settings.ts"

/** Looks at the files that settings name, as a service with this configuration would. */
export function examineFiles(config: Config): SettingFiles {
  const redaction = redactionOf(config)
  const files = tlsFiles(config)
  const tls = files === null ? null : readTlsMaterial(files)
  return {
    problems: [
      ...(redaction.ok ? [] : [redaction.failure]),
      ...(tls === null || tls.ok ? [] : [tls.failure]),
    ],
    certificateExpiresAt: tls?.ok === true ? tls.value.expiresAt : null,
  }
}
