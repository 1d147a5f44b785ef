import { type Chance, oneOf, someBytes } from "../../support/chance.ts"

type Frame = {
  opcode: number
  payload: Uint8Array
  isFinal?: boolean
  reserved?: number // three bits
  isMasked?: boolean
  /** What the header says, where that is not how much follows. */
  length?: bigint
  /** How the length is written: in as few bytes as it needs unless this says more. */
  lengthBytes?: 0 | 2 | 8
}

const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

/** A client's WebSocket frame, with whatever is to be wrong about it. */
function frame(chance: Chance, wanted: Frame): Uint8Array {
  const { opcode, payload, isFinal = true, reserved = 0, isMasked = true } = wanted
  const length = wanted.length ?? BigInt(payload.length)
  const needed = length < 126n ? 0 : length < 65_536n ? 2 : 8
  const lengthBytes = wanted.lengthBytes ?? needed
  const head = Buffer.alloc(2 + lengthBytes)
  head.writeUInt8((isFinal ? 0x80 : 0) | (reserved << 4) | opcode)
  const short = lengthBytes === 0 ? Number(length & 0x7fn) : lengthBytes === 2 ? 126 : 127
  head.writeUInt8((isMasked ? 0x80 : 0) | short, 1)
  if (lengthBytes === 2) head.writeUInt16BE(Number(length & 0xffffn), 2)
  if (lengthBytes === 8) head.writeBigUInt64BE(BigInt.asUintN(64, length), 2)
  if (!isMasked) return Buffer.concat([head, payload])
  const mask = someBytes(chance, 4)
  const masked = payload.map((byte, index) => byte ^ (mask[index % 4] ?? 0))
  return Buffer.concat([head, mask, masked])
}

export function textFrame(chance: Chance, text: string): Uint8Array {
  return frame(chance, { opcode: opcodes.text, payload: Buffer.from(text) })
}

/** A row of frames in which something is wrong; the message is carried by the row where it can. */
export function hostileFrames(chance: Chance, message: string): Uint8Array[] {
  const payload = Buffer.from(message)
  const text = { opcode: opcodes.text, payload }
  const make = (wanted: Frame) => frame(chance, wanted)
  switch (chance(16)) {
    case 0:
      return [make({ ...text, isMasked: false })]
    case 1:
      return [make({ ...text, reserved: 1 + chance(7) })]
    case 2:
      return [make({ ...text, opcode: oneOf(chance, [3, 4, 5, 6, 7, 11, 12, 13, 14, 15]) })]
    case 3: // fragments without an end
      return Array.from({ length: 1 + chance(60) }, (_, index) =>
        make({
          opcode: index === 0 ? opcodes.text : opcodes.continuation,
          payload: someBytes(chance, chance(40)),
          isFinal: false,
        }),
      )
    case 4: // a message in pieces, with a ping between them
      return [
        make({ ...text, payload: payload.subarray(0, 5), isFinal: false }),
        make({ opcode: opcodes.ping, payload: someBytes(chance, 5) }),
        make({ opcode: opcodes.continuation, payload: payload.subarray(5) }),
      ]
    case 5:
      return [make({ opcode: opcodes.continuation, payload })]
    case 6:
      return [make({ ...text, isFinal: false }), make(text)]
    case 7: // control frames are at most 125 bytes long, and never in pieces
      return [
        make({
          opcode: oneOf(chance, [opcodes.close, opcodes.ping, opcodes.pong]),
          payload: someBytes(chance, 126 + chance(5000)),
          isFinal: chance(2) === 0,
        }),
      ]
    case 8: // lengths that lie
      return [make({ ...text, lengthBytes: 8, length: oneOf(chance, lies) })]
    case 9:
      return [make({ ...text, length: BigInt(payload.length + 1 + chance(100)) })]
    case 10: // more bytes for a length than it needs
      return [make({ ...text, lengthBytes: 8 }), make({ ...text, lengthBytes: 2 })]
    case 11: // not UTF-8
      return [make({ ...text, payload: Buffer.concat([payload, oneOf(chance, notUtf8)]) })]
    case 12:
      return [make({ opcode: opcodes.close, payload: oneOf(chance, strangeCloses) }), make(text)]
    case 13:
      return [make({ opcode: opcodes.binary, payload: someBytes(chance, chance(300)) })]
    case 14:
      return [someBytes(chance, 1 + chance(200))]
    default:
      return Array.from({ length: 1 + chance(30) }, () =>
        make({
          opcode: oneOf(chance, [opcodes.ping, opcodes.pong]),
          payload: someBytes(chance, 9),
        }),
      )
  }
}

const lies = [2n ** 63n, 2n ** 64n - 1n, 2n ** 62n, 2n ** 32n, 2n ** 31n - 1n, 0n] as const

const notUtf8 = [
  Uint8Array.of(0xff),
  Uint8Array.of(0xc3, 0x28),
  Uint8Array.of(0xed, 0xa0, 0x80), // half of a pair
  Uint8Array.of(0xf4, 0x90, 0x80, 0x80), // past the last character
  Uint8Array.of(0xc0, 0x80), // a NUL, the long way
  Uint8Array.of(0xe2, 0x82), // unfinished
] as const

const strangeCloses = [
  Uint8Array.of(),
  Uint8Array.of(3),
  Uint8Array.of(0, 0),
  Uint8Array.of(0x03, 0xed), // 1005, which no frame may carry
  Uint8Array.of(0xff, 0xff),
  Uint8Array.of(0x03, 0xe8, 0xff, 0xfe),
] as const
