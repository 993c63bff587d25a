// The generic card: arguments as key and value or as JSON, then what came back. The fallback for every view that is not known here.
import { contentText, imageText, type Json } from '@deepseek-ai/dsh-tools/presentation'
import { t } from '../strings.ts'
import type { CallItem } from '../state/items.ts'
import { parseArguments } from './describe.ts'
import { TextLines } from './lines.tsx'
import type { Card } from './registry.tsx'

export function ErrorBand({ text }: { text: string }) {
  return (
    <div className="max-h-[420px] overflow-auto whitespace-pre-wrap break-words bg-errw px-3 py-2 text-err">{text}</div>
  )
}

/** The sentence of a failed call; empty for a result. */
export function failureText(item: CallItem): string {
  const { outcome } = item
  if (!outcome?.isError) return ''
  const { code, message } = outcome.error ?? { code: '', message: contentText(outcome.content) }
  return code === '' ? message : `${code}: ${message}`
}

function inputOf(item: CallItem): unknown {
  const given = item.callView?.card === 'generic' ? item.callView.rawInput : undefined
  return given ?? parseArguments(item.arguments) ?? item.arguments
}

function isFlat(value: unknown): value is Record<string, Json> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((part) => typeof part !== 'object' || part === null)
  )
}

function Input({ value }: { value: unknown }) {
  if (isFlat(value)) {
    const entries = Object.entries(value)
    if (entries.length === 0) return null
    return (
      <dl className="grid max-h-[200px] grid-cols-[auto_minmax(0,1fr)] gap-x-4 overflow-auto border-b border-line bg-sunken px-3 py-1.5 font-mono text-mono">
        {entries.map(([key, part]) => (
          <div key={key} className="contents">
            <dt className="text-ink3">{key}</dt>
            <dd className="whitespace-pre-wrap break-words">
              {typeof part === 'string' ? part.slice(0, 5000) : JSON.stringify(part)}
            </dd>
          </div>
        ))}
      </dl>
    )
  }
  const text = typeof value === 'string' ? value : compactJson(value)
  if (text === '') return null
  return (
    <div className="border-b border-line bg-sunken">
      <TextLines text={text} label={t.arguments} />
    </div>
  )
}

/** What a failed call said besides its sentence, e.g. the output until it was stopped. */
export function beyondMessage(item: CallItem): string {
  const text = item.outcome ? contentText(item.outcome.content) : ''
  const message = item.outcome?.error?.message ?? text
  return text.replace(/^Error: /, '') === message ? '' : text
}

const lineOfJson = 90

/** On one line when it fits there. */
function compactJson(value: unknown): string {
  const line = JSON.stringify(value)
  return line.length <= lineOfJson ? line : JSON.stringify(value, undefined, 2)
}

function resultText(item: CallItem): string {
  const view = item.resultView
  if (view?.card === 'generic' && view.content) return contentText(view.content)
  return item.outcome ? contentText(item.outcome.content) : item.output
}

/** Pictures of a result, from the log. */
function Images({ item }: { item: CallItem }) {
  const images = (item.outcome?.content ?? []).filter((block) => block.type === 'image')
  return images.map(({ mediaType, data }, index) => (
    <div key={index} className="border-b border-line bg-sunken p-3 last:border-b-0">
      <img
        className="max-h-[420px] max-w-full rounded-control object-contain"
        src={`data:${mediaType};base64,${data}`}
        alt={imageText({ type: 'image', mediaType, data })}
      />
    </div>
  ))
}

function Body({ item }: { item: CallItem }) {
  const failure = failureText(item)
  const text = failure ? beyondMessage(item) : resultText(item)
  return (
    <>
      <Input value={inputOf(item)} />
      {failure && <ErrorBand text={failure} />}
      <Images item={item} />
      {text !== '' && <TextLines text={text} label={t.result} />}
      {text === '' && !failure && (
        <div className="px-3 py-2 text-meta text-ink3">{item.phase === 'done' ? t.noOutput : t.noOutputYet}</div>
      )}
    </>
  )
}

export const generic: Card = {
  Body,
  receipts: () => [],
  copyText: (item) => failureText(item) || resultText(item),
}
