import { type SettingFacts, settingFacts } from "./setting.ts"
import { Settings } from "./settings.ts"

/** A setting as help and documentation show it. */
export type Setting = Omit<SettingFacts, "flag"> & {
  key: string
  /** `--host` */
  flag: string
  /** `CC_EXECUTOR_HOST` */
  variable: string
}

export const variablePrefix = "CC_EXECUTOR_"

export const settings: readonly Setting[] = Object.entries(Settings.shape).flatMap(
  ([key, schema]) => {
    const facts = settingFacts.get(schema)
    if (facts === undefined) return []
    const variable = variablePrefix + facts.flag.toUpperCase().replaceAll("-", "_")
    return [{ ...facts, key, flag: `--${facts.flag}`, variable }]
  },
)
