/** Every sample of a page of metrics: the name with its labels as they stand there, the value. */
export function parseMetrics(text: string): Map<string, number> {
  const samples = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"))
  return new Map(
    samples.map((line) => {
      const [, name, value] = /^(\w+(?:\{.*\})?) (\S+)$/su.exec(line) ?? []
      if (name === undefined) throw new Error(`this is no sample: ${line}`)
      return [name, value === "+Inf" ? Infinity : Number(value)]
    }),
  )
}
