import type { SettingFiles } from "../cli/setting-files.ts"
import type { Config } from "../config.ts"
import { readTlsMaterial } from "../gateway/tls-material.ts"
import { redactionOf, tlsFiles } from "./serve-settings.ts"

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
