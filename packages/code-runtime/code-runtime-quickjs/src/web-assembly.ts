// The little of WebAssembly that we use; the language's library describes it only together with the DOM.

/** A compiled module: may be posted to other threads, which then share its code. */
export interface CompiledModule {
  readonly [compiled]: true
}
declare const compiled: unique symbol

export interface LinearMemory {
  readonly buffer: ArrayBuffer
}

interface WebAssemblyApi {
  readonly compile: (bytes: Uint8Array) => Promise<CompiledModule>
  /** Both in pages of 64 KiB. */
  Memory: new (size: { initial: number; maximum: number }) => LinearMemory
}

export const { compile, Memory } = (globalThis as unknown as { WebAssembly: WebAssemblyApi }).WebAssembly
