/**
 * Runs what makes style elements and writes rules into them, as xterm does with sizes and colours.
 * The page's policy forbids that; a sheet that is made by script is not inline. So while it runs,
 * such an element is one of another kind, that passes its text on to a sheet.
 */
export function withStyleSheets(run: () => void): Disposable {
  const sheets = new Set<CSSStyleSheet>()
  const own = document.createElement.bind(document)
  document.createElement = (name: string, options?: ElementCreationOptions) => {
    if (name !== "style") return own(name, options)
    const sheet = new CSSStyleSheet()
    sheets.add(sheet)
    document.adoptedStyleSheets.push(sheet)
    const element = own("template")
    return Object.defineProperty(element, "textContent", {
      get: () => "",
      set(text: string) {
        sheet.replaceSync(text)
      },
    })
  }
  try {
    run()
  } finally {
    // The one of its kind shows again.
    Reflect.deleteProperty(document, "createElement")
  }
  return {
    [Symbol.dispose]() {
      document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => !sheets.has(one))
    },
  }
}
