// Reads the format in which QuickJS serialises a value without running any of its code. Owns the second half of "lossless": whatever
// is not JSON is met here. Accessors, proxies, functions and most classes were already refused by the writer.

/** The value is not JSON; the guest explains where. */
export class NotJson extends Error {}

// Note: the layout belongs to the pinned engine; `tests/product/resources.test.ts` round-trips arbitrary JSON through it.
const VERSION = 5
const TAG = { null: 1, false: 3, true: 4, int: 5, double: 6, string: 7, object: 8, array: 9, reference: 19 } as const

export function readBinaryJson(bytes: Uint8Array): unknown {
  return new Reader(bytes).read()
}

class Reader {
  private position = 0
  private readonly buffer: Buffer
  private readonly atoms: string[] = []
  /** Objects and arrays in the order of their start; `undefined` while one is being read, so that a cycle shows. */
  private readonly objects: (object | undefined)[] = []

  constructor(bytes: Uint8Array) {
    this.buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  read(): unknown {
    if (this.byte() !== VERSION) throw new Error('the engine speaks another serialisation format')
    const count = this.unsigned()
    for (let index = 0; index < count; index += 1) this.atoms.push(this.text())
    return this.value()
  }

  private value(): unknown {
    switch (this.byte()) {
      case TAG.null:
        return null
      case TAG.false:
        return false
      case TAG.true:
        return true
      case TAG.int:
        return this.signed()
      case TAG.double:
        return this.double()
      case TAG.string:
        return this.text()
      case TAG.object:
        return this.object()
      case TAG.array:
        return this.array()
      case TAG.reference: {
        const known = this.objects[this.unsigned()]
        if (known === undefined) throw new NotJson('a cycle')
        return known
      }
      default:
        throw new NotJson('not JSON')
    }
  }

  private object(): object {
    const slot = this.objects.push(undefined) - 1
    const made: Record<string, unknown> = {}
    const count = this.unsigned()
    for (let index = 0; index < count; index += 1) {
      const key = this.key()
      const value = this.value()
      if (key === '__proto__')
        Object.defineProperty(made, key, { value, writable: true, enumerable: true, configurable: true })
      else made[key] = value
    }
    this.objects[slot] = made
    return made
  }

  private array(): unknown[] {
    const slot = this.objects.push(undefined) - 1
    const made: unknown[] = []
    const count = this.unsigned()
    for (let index = 0; index < count; index += 1) made.push(this.value())
    this.objects[slot] = made
    return made
  }

  private key(): string {
    const atom = this.unsigned()
    if (atom % 2 === 1) return String((atom - 1) / 2)
    const text = this.atoms[atom / 2 - 1]
    if (text === undefined) throw new Error('the serialised value names an unknown key')
    return text
  }

  private text(): string {
    const head = this.unsigned()
    const length = Math.floor(head / 2)
    const start = this.position
    if (head % 2 === 1) {
      this.position += length * 2
      return this.buffer.toString('utf16le', start, this.position)
    }
    this.position += length
    return this.buffer.toString('latin1', start, this.position)
  }

  private double(): number {
    const number = this.buffer.readDoubleLE(this.position)
    this.position += 8
    if (!Number.isFinite(number) || Object.is(number, -0)) throw new NotJson('a number that JSON has not')
    return number
  }

  private byte(): number {
    const byte = this.buffer[this.position]
    if (byte === undefined) throw new Error('the serialised value ends early')
    this.position += 1
    return byte
  }

  private unsigned(): number {
    let result = 0
    for (let shift = 1; ; shift *= 128) {
      const byte = this.byte()
      result += (byte & 127) * shift
      if (byte < 128) return result
    }
  }

  private signed(): number {
    const raw = this.unsigned()
    return raw % 2 === 1 ? -(raw + 1) / 2 : raw / 2
  }
}
