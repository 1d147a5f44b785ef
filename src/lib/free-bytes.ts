/**
 * Gives the memory of bytes back at once that nobody looks at any more: the garbage collector does
 * not know how large what it leaves lying about is. Bytes that share their memory are left alone.
 */
export function freeBytes(bytes: Uint8Array): void {
  const { buffer } = bytes
  if (buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength) buffer.transfer(0)
}
