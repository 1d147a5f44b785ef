import { setting } from "./setting.ts"
import { count, size } from "./text-form.ts"

/** How much of the audit trail is kept. */
export const auditSettings = {
  auditFileBytes: setting(size({ min: "64k", max: "1G" }), {
    group: "Logs",
    flag: "audit-file-size",
    defaultText: "16MiB",
    description: "A file of the audit trail is followed by another before it grows beyond this.",
  }),
  auditFiles: setting(count({ min: 2, max: 1_000_000 }), {
    group: "Logs",
    flag: "audit-files",
    defaultText: "64",
    description: "Files of the audit trail that are kept; the oldest goes when there is one more.",
  }),
}
