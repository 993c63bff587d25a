// Which globals a caller may bind. What is wrong is thrown before a program starts.
import { CodeRuntimeError, type CodeBinding } from '@deepseek-ai/dsh-code-runtime'
import type { BindingShape } from './protocol.ts'

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/

const RESERVED = new Set(
  (
    'arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for ' +
    'function if implements import in instanceof interface let new null package private protected public return static super switch ' +
    'this throw true try typeof undefined var void while with yield'
  ).split(' '),
)

const OWN_GLOBALS = new Set(
  (
    'console setTimeout clearTimeout setInterval clearInterval queueMicrotask URL URLSearchParams TextEncoder TextDecoder ' +
    'structuredClone globalThis Object Function Array String Number Boolean Symbol BigInt Math JSON Reflect Proxy Promise Date RegExp ' +
    'Map Set WeakMap WeakSet WeakRef FinalizationRegistry Iterator ArrayBuffer SharedArrayBuffer DataView Atomics Int8Array Uint8Array ' +
    'Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array BigInt64Array BigUint64Array Float16Array Float32Array Float64Array ' +
    'Error AggregateError EvalError InternalError RangeError ReferenceError SyntaxError TypeError URIError parseInt parseFloat isNaN ' +
    'isFinite encodeURI encodeURIComponent decodeURI decodeURIComponent escape unescape Infinity NaN'
  ).split(' '),
)

const ERROR_MEMBERS = new Set(['name', 'message', 'stack', 'cause', 'constructor', 'toString', '__proto__'])

const misuse = (message: string): CodeRuntimeError => new CodeRuntimeError(message, 'CODE_RUNTIME_MISUSE')

function checkGlobal(name: unknown, taken: Set<string>): string {
  if (typeof name !== 'string' || !IDENTIFIER.test(name)) {
    throw misuse(`the global ${JSON.stringify(name)} is not a plain identifier`)
  }
  if (RESERVED.has(name)) throw misuse(`the global "${name}" is a reserved word`)
  if (OWN_GLOBALS.has(name)) throw misuse(`the global "${name}" belongs to the runtime; choose another name`)
  if (taken.has(name)) throw misuse(`the global "${name}" is bound twice`)
  taken.add(name)
  return name
}

function checkNames(binding: CodeBinding): readonly string[] {
  const names = [...binding.names]
  const odd = names.find((name) => typeof name !== 'string')
  if (odd !== undefined) throw misuse(`a name in "${binding.global}" is ${String(odd)}; expected a string`)
  if (new Set(names).size === names.length) return names
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  throw misuse(`"${binding.global}" names ${JSON.stringify(twice)} twice`)
}

/** Throws `CODE_RUNTIME_MISUSE`. */
export function checkBindings(bindings: readonly CodeBinding[]): BindingShape[] {
  const taken = new Set<string>()
  return bindings.map((binding) => {
    const global = checkGlobal(binding.global, taken)
    const names = checkNames(binding)
    if (binding.errorClass === undefined) return { global, names }
    const name = checkGlobal(binding.errorClass.name, taken)
    const { memberNameProperty } = binding.errorClass
    if (typeof memberNameProperty !== 'string' || memberNameProperty === '' || ERROR_MEMBERS.has(memberNameProperty)) {
      throw misuse(`"${memberNameProperty}" cannot carry the member's name: errors have it already, or it is no name`)
    }
    return { global, names, errorClass: { name, memberNameProperty } }
  })
}
