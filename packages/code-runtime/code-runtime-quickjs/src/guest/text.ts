// Runs inside QuickJS: `TextEncoder` and `TextDecoder`, whose work the worker does. Self-contained: the function is sent as text.
import type { GuestHost } from './bridge.ts'

export function makeText(host: Pick<GuestHost, 'encode' | 'decode'>): Record<string, unknown> {
  const { defineProperty } = Object
  const { parse, stringify } = JSON
  const view = ArrayBuffer.isView

  class TextEncoder {
    get encoding(): string {
      return 'utf-8'
    }

    encode(text: unknown = ''): Uint8Array {
      return new Uint8Array(host.encode(String(text)))
    }

    encodeInto(text: unknown, target: Uint8Array): { read: number; written: number } {
      let read = 0
      let written = 0
      for (const character of String(text)) {
        const bytes = this.encode(character)
        if (written + bytes.length > target.length) break
        target.set(bytes, written)
        written += bytes.length
        read += character.length
      }
      return { read, written }
    }
  }

  class TextDecoder {
    readonly encoding: string
    readonly fatal: boolean
    readonly ignoreBOM: boolean
    private rest = new Uint8Array(0)

    constructor(label: unknown = 'utf-8', options: { fatal?: boolean; ignoreBOM?: boolean } = {}) {
      this.fatal = options.fatal === true
      this.ignoreBOM = options.ignoreBOM === true
      this.encoding = String(label)
      defineProperty(this, 'rest', { enumerable: false, writable: true })
      this.encoding = this.ask(new ArrayBuffer(0), 0, 0).encoding
    }

    decode(input?: ArrayBuffer | ArrayBufferView, options: { stream?: boolean } = {}): string {
      if (input === undefined && this.rest.length === 0) return ''
      const source = input ?? new ArrayBuffer(0)
      if (!(source instanceof ArrayBuffer) && !view(source)) throw new TypeError('TextDecoder wants bytes')
      let bytes =
        source instanceof ArrayBuffer
          ? new Uint8Array(source)
          : new Uint8Array(source.buffer as ArrayBuffer, source.byteOffset, source.byteLength)
      if (this.rest.length > 0) {
        const whole = new Uint8Array(this.rest.length + bytes.length)
        whole.set(this.rest)
        whole.set(bytes, this.rest.length)
        bytes = whole
      }
      const end = options.stream === true ? this.complete(bytes) : bytes.length
      this.rest = bytes.slice(end)
      return this.ask(bytes.buffer, bytes.byteOffset, end).text
    }

    /** Where a character that goes on in the next chunk begins. */
    private complete(bytes: Uint8Array): number {
      if (this.encoding !== 'utf-8') return bytes.length - (bytes.length % 2)
      for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
        const byte = bytes[bytes.length - back] as number
        if (byte < 0x80) break
        if (byte < 0xc0) continue
        const wanted = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
        return wanted > back ? bytes.length - back : bytes.length
      }
      return bytes.length
    }

    private ask(buffer: ArrayBuffer, start: number, length: number): { text: string; encoding: string } {
      const options = stringify({ label: this.encoding, fatal: this.fatal, ignoreBOM: this.ignoreBOM })
      const answer = parse(host.decode(buffer, start, length, options)) as {
        text: string
        encoding: string
        error?: string
        range?: true
      }
      if (answer.error === undefined) return answer
      throw answer.range === true ? new RangeError(answer.error) : new TypeError(answer.error)
    }
  }

  return { TextEncoder, TextDecoder }
}
