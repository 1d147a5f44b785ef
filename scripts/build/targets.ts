/** The version of Bun that builds a release, and is inside it. */
export const bunVersion = "1.4.4"

export type Target = {
  /** Behind the program's name, in the names of what is released. */
  name: "linux-x64" | "linux-x64-baseline" | "linux-arm64"
  /** What `bun build --target` calls it. */
  bunTarget: string
  /** The package that holds the runtime, and the SHA-256 of the runtime in it. */
  runtime: { package: string; sha256: string }
}

// With Bun 1.4.4 the first two runtimes are one file, which also runs without AVX2. Both
// names stay: with another version they may differ again.
export const targets: readonly Target[] = [
  {
    name: "linux-x64",
    bunTarget: "bun-linux-x64",
    runtime: {
      package: "@oven/bun-linux-x64",
      sha256: "10702245766b225e70bbf6235fd6b47214fd94b4760d00ffaed8ab0df57ac235",
    },
  },
  {
    name: "linux-x64-baseline",
    bunTarget: "bun-linux-x64-baseline",
    runtime: {
      package: "@oven/bun-linux-x64-baseline",
      sha256: "10702245766b225e70bbf6235fd6b47214fd94b4760d00ffaed8ab0df57ac235",
    },
  },
  {
    name: "linux-arm64",
    bunTarget: "bun-linux-arm64",
    runtime: {
      package: "@oven/bun-linux-aarch64",
      sha256: "354c2b049c716aca07b2e5cddb887928ac58950675d1258bb6312083917793b6",
    },
  },
]
