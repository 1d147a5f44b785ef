import { type TextForm, textForm } from "./text-form.ts"

/** Names by which clients know the service, without a port. */
export function hostNames(): TextForm<string[]> {
  return textForm("<names>", "host names separated by commas", (text) =>
    all(text, (name) => {
      const url = /^[\w.:[\]-]+$/.test(name) ? URL.parse(`http://${name}`) : null
      return url !== null && url.port === "" ? url.hostname : undefined
    }),
  )
}

/** Where a page comes from, as browsers write it: scheme, host and port. */
export function webOrigins(): TextForm<string[]> {
  return textForm("<origins>", "web origins separated by commas", (text) =>
    all(text, (origin) => {
      const url = URL.parse(origin)
      const isWeb = url !== null && ["http:", "https:"].includes(url.protocol)
      return isWeb && url.pathname === "/" && url.search === "" ? url.origin : undefined
    }),
  )
}

function all(text: string, read: (one: string) => string | undefined): string[] | undefined {
  const values = text.split(",").map((one) => read(one.trim()))
  const good = values.filter((value) => value !== undefined)
  return good.length === values.length ? good : undefined
}
