/** The files that settings name, as a service would find them. */
export type SettingFiles = {
  /** Why a service would not start with them. */
  problems: string[]
  certificateExpiresAt: Date | null
}
