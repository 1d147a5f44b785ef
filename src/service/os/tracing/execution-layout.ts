/** What `execve` is told, as it must lie in memory; and where in there each of the three is. */
type ExecutionLayout = { bytes: Uint8Array; path: bigint; argv: bigint; env: bigint }

/** For memory that begins at this address: pointers to each word and variable, then the texts. */
export function executionLayout(
  path: string,
  argv: readonly Uint8Array[],
  env: readonly Uint8Array[],
  address: bigint,
): ExecutionLayout {
  const texts = [Buffer.from(path), ...argv, ...env]
  const listBytes = (argv.length + 1 + env.length + 1) * 8
  const pointers: bigint[] = []
  let at = address + BigInt(listBytes)
  for (const text of texts) {
    pointers.push(at)
    at += BigInt(text.length + 1)
  }
  const [ofPath = 0n, ...others] = pointers
  const lists = [...others.slice(0, argv.length), 0n, ...others.slice(argv.length), 0n]
  const end = Uint8Array.of(0)
  const bytes = Buffer.concat([
    new Uint8Array(new BigUint64Array(lists).buffer),
    ...texts.flatMap((text) => [text, end]),
  ])
  return { bytes, path: ofPath, argv: address, env: address + BigInt((argv.length + 1) * 8) }
}
