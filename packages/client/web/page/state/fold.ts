// Folds a session's frames into its state. Pure: the same frames give the same state, and frames that were seen already change nothing.
import type { EventFrame, LiveFrame, CaughtUpFrame } from '@deepseek-ai/dsh-server/protocol'
import type { SessionEvent, SessionEventMap } from '@deepseek-ai/dsh-session'
import { factOf } from './facts.ts'
import type { CallItem, Frame, Item, SessionState, TextItem } from './items.ts'

/** Characters of live output kept for a call. */
export const liveOutputLimit = 64 * 1024

/** Calls kept of one program; a loop may make a hundred thousand. */
const nestedCallLimit = 200

export const emptySession: SessionState = {
  items: [],
  live: [],
  queue: [],
  lastSeq: -1,
  running: false,
  caughtUp: false,
  title: '',
  cwd: '',
  model: undefined,
  turn: 0,
  step: 0,
  usage: undefined,
}

type Draft = { -readonly [K in keyof SessionState]: SessionState[K] } & {
  items: Item[]
  live: (TextItem | CallItem)[]
}

/** Applies a batch at the cost of one copy of the list. */
export function foldFrames(state: SessionState, frames: readonly Frame[]): SessionState {
  const draft: Draft = { ...state, items: [...state.items], live: [...state.live] }
  for (const frame of frames) {
    if (frame.kind === 'event') foldEvent(draft, frame.frame)
    else if (frame.kind === 'live') foldLive(draft, frame.frame)
    else if (frame.kind === 'caught-up') foldCaughtUp(draft, frame.frame)
    else if (frame.kind === 'reset') Object.assign(draft, emptySession, { items: [], live: [] })
    else draft.live = []
  }
  return draft
}

function foldEvent(draft: Draft, frame: EventFrame): void {
  const { event } = frame
  if (event.seq <= draft.lastSeq) return
  draft.lastSeq = event.seq
  const key = `e${event.seq}`
  const { turn } = draft
  switch (event.type) {
    case 'session/start':
      draft.cwd = event.data.cwd
      draft.title = event.data.title ?? ''
      return
    case 'session/title':
      draft.title = event.data.title
      return
    case 'session/model':
      draft.model = event.data
      if (draft.turn > 0) draft.items.push({ kind: 'model', key, turn, model: event.data })
      return
    case 'inbox/added':
      if (event.data.message.source.kind === 'user') draft.queue = [...draft.queue, event.data]
      return
    case 'inbox/removed':
      draft.queue = draft.queue.filter(({ message }) => !event.data.ids.includes(message.id))
      return
    case 'turn/start':
      Object.assign(draft, { turn: event.data.turn, step: 0, running: true, live: [] })
      return
    case 'turn/end':
      return endTurn(draft, event)
    case 'request/header':
      draft.model ??= { provider: event.data.provider, model: event.data.model }
      return
    case 'user/message':
      draft.queue = draft.queue.filter(({ message }) => message.id !== event.data.message.id)
      draft.items.push({ kind: 'prompt', key, turn: event.data.turn, message: event.data.message })
      return
    case 'assistant/message':
      return foldAssistant(draft, event.data)
    case 'llm/retry': {
      const { attempt, delayMs, failure } = event.data
      draft.live = []
      draft.items.push({ kind: 'retry', key, turn: event.data.turn, attempt, delayMs, failure })
      return
    }
    case 'tool/call':
      return foldCall(draft, event, frame)
    case 'tool/result':
      return foldResult(draft, event.data, frame)
    case 'tool/sub-call':
      return foldSubCall(draft, event, frame)
    case 'tool/sub-result':
      return foldSubResult(draft, event.data, frame)
    case 'session/notice':
      draft.items.push({ kind: 'notice', key, turn, ...event.data })
      return
    case 'approval/decided':
    case 'approval/revoked':
    case 'sandbox/mode':
    case 'question/settled':
    case 'job/ended': {
      const fact = factOf(event)
      if (fact !== undefined) draft.items.push({ kind: 'fact', key, turn, at: event.time, ...fact })
      return
    }
    default:
      // An event of a plugin or of a newer version: nothing here can show it, and the rest of the log still reads.
      return
  }
}

const blockKey = (turn: number, step: number, index: number): string => `b${turn}.${step}.${index}`
const callKey = (turn: number, step: number, callId: string): string => `c${turn}.${step}.${callId}`

function foldAssistant(draft: Draft, data: SessionEventMap['assistant/message']): void {
  const { turn, step } = data
  let index = 0
  for (const block of data.content) {
    if (block.type === 'tool-call') {
      const { id: callId, name } = block
      const call = { kind: 'call', key: callKey(turn, step, callId), turn, callId, name } as const
      draft.items.push({ ...call, arguments: block.arguments, phase: 'pending', output: '' })
    } else if (block.text.trim() !== '') {
      const kind = block.type === 'reasoning' ? 'thought' : 'prose'
      draft.items.push({ kind, key: blockKey(turn, step, index++), turn, text: block.text, live: false })
    }
  }
  if (data.usage) {
    const { input, output, cacheRead = 0, cacheWrite = 0 } = data.usage
    draft.usage = { input: input + cacheRead + cacheWrite, output }
  }
  draft.live = []
  draft.step = step + 1
}

/** Ids may come back in a later turn, so the newest call with the id is the one that is meant. */
function findCall(draft: Draft, callId: string): number {
  return draft.items.findLastIndex((item) => item.kind === 'call' && item.callId === callId)
}

function foldCall(draft: Draft, event: SessionEvent<'tool/call'>, frame: EventFrame): void {
  const { turn, step, callId, name } = event.data
  const at = findCall(draft, callId)
  const known = draft.items[at]
  const base = { turn, callId, name, arguments: event.data.arguments, startedAt: event.time, output: '' }
  const view = frame.call ? { callView: frame.call } : {}
  if (known?.kind === 'call' && known.phase === 'pending') {
    draft.items[at] = { ...known, ...base, ...view, phase: 'running' }
  } else {
    draft.items.push({
      kind: 'call',
      key: callKey(turn, step, `${callId}@${event.seq}`),
      ...base,
      ...view,
      phase: 'running',
    })
  }
}

function foldResult(draft: Draft, data: SessionEventMap['tool/result'], frame: EventFrame): void {
  const { turn, step, callId, callSeq: _callSeq, ...outcome } = data
  const at = findCall(draft, callId)
  const known = draft.items[at]
  const views = {
    ...(frame.call ? { callView: frame.call } : {}),
    ...(frame.result ? { resultView: frame.result } : {}),
  }
  const done = { phase: 'done', outcome, output: '', ...views } as const
  if (known?.kind === 'call' && known.phase !== 'done') {
    const calls = known.calls === undefined ? {} : { calls: known.calls.map(endedWithItsProgram) }
    draft.items[at] = { ...known, ...done, ...calls }
  } else {
    const key = callKey(turn, step, `${callId}@${frame.event.seq}`)
    draft.items.push({ kind: 'call', key, turn, callId, name: 'tool', arguments: '', ...done })
  }
}

/** A process that died in the middle of a program left calls without an outcome; their program is over, so they are too. */
function endedWithItsProgram(call: CallItem): CallItem {
  if (call.phase === 'done') return call
  const error = { code: 'TOOL_OUTCOME_UNKNOWN', message: '' }
  return { ...call, phase: 'done', outcome: { content: [], isError: true, error, durationMs: 0 } }
}

function foldSubCall(draft: Draft, event: SessionEvent<'tool/sub-call'>, frame: EventFrame): void {
  const { callId, subCallId, name } = event.data
  const at = findCall(draft, callId)
  const outer = draft.items[at]
  if (outer?.kind !== 'call') return
  const call: CallItem = {
    kind: 'call',
    key: `${outer.key}/${subCallId}`,
    turn: outer.turn,
    callId: subCallId,
    name,
    arguments: event.data.arguments,
    phase: 'running',
    startedAt: event.time,
    output: '',
    ...(frame.call ? { callView: frame.call } : {}),
  }
  const calls = outer.calls ?? []
  const callCount = (outer.callCount ?? 0) + 1
  draft.items[at] = { ...outer, callCount, calls: calls.length < nestedCallLimit ? [...calls, call] : calls }
}

function foldSubResult(draft: Draft, data: SessionEventMap['tool/sub-result'], frame: EventFrame): void {
  const { callId, subCallId, callSeq: _callSeq, ...outcome } = data
  const at = findCall(draft, callId)
  const outer = draft.items[at]
  if (outer?.kind !== 'call') return
  const view = frame.result ? { resultView: frame.result } : {}
  const calls = outer.calls?.map((call): CallItem =>
    call.callId === subCallId ? { ...call, phase: 'done', outcome, ...view } : call,
  )
  draft.items[at] = { ...outer, ...(calls === undefined ? {} : { calls }) }
}

function endTurn(draft: Draft, event: SessionEvent<'turn/end'>): void {
  const { turn, reason } = event.data
  draft.live = []
  draft.running = false
  if (reason.kind !== 'completed') draft.items.push({ kind: 'end', key: `e${event.seq}`, turn, reason })
}

function foldLive(draft: Draft, live: LiveFrame): void {
  switch (live.kind) {
    case 'status':
      draft.running = live.status === 'running'
      if (!draft.running) draft.live = []
      return
    case 'attempt':
      Object.assign(draft, { turn: live.turn, step: live.step, running: true, live: [] })
      return
    case 'delta':
      return appendText(draft, live.block === 'reasoning' ? 'thought' : 'prose', live.text)
    case 'tool-call': {
      const { callId, name } = live
      const item: CallItem = {
        kind: 'call',
        key: callKey(draft.turn, draft.step, callId),
        turn: draft.turn,
        callId,
        name,
        arguments: live.arguments,
        phase: 'writing',
        output: '',
      }
      const at = draft.live.findIndex((other) => other.key === item.key)
      if (at < 0) draft.live.push(item)
      else draft.live[at] = item
      return
    }
    case 'progress':
      return foldProgress(draft, live)
    default:
      live satisfies never
  }
}

function appendText(draft: Draft, kind: TextItem['kind'], text: string): void {
  const last = draft.live.at(-1)
  if (last?.kind === kind) {
    draft.live[draft.live.length - 1] = { ...last, text: last.text + text }
    return
  }
  const texts = draft.live.filter((item) => item.kind !== 'call').length
  draft.live.push({ kind, key: blockKey(draft.turn, draft.step, texts), turn: draft.turn, text, live: true })
}

function foldProgress(draft: Draft, { callId, progress }: Extract<LiveFrame, { kind: 'progress' }>): void {
  const at = findCall(draft, callId)
  const item = draft.items[at]
  if (item?.kind !== 'call' || item.phase === 'done') return
  if (progress.kind === 'text') draft.items[at] = { ...item, output: keepTail(item.output + progress.text) }
  else if (progress.kind === 'label') draft.items[at] = { ...item, label: progress.label }
  else {
    const label = progress.label === undefined ? {} : { label: progress.label }
    draft.items[at] = { ...item, fraction: progress.fraction, ...label }
  }
}

/** Cuts whole lines off the front where it can, so that a half escape sequence is never shown. */
export function keepTail(text: string): string {
  if (text.length <= liveOutputLimit) return text
  const tail = text.slice(-liveOutputLimit)
  const lineEnd = tail.indexOf('\n')
  return lineEnd < 0 ? tail : tail.slice(lineEnd + 1)
}

function foldCaughtUp(draft: Draft, { snapshot }: CaughtUpFrame): void {
  draft.caughtUp = true
  draft.running = snapshot.status === 'running'
  draft.live = []
  if (snapshot.reasoning !== '') appendText(draft, 'thought', snapshot.reasoning)
  if (snapshot.text !== '') appendText(draft, 'prose', snapshot.text)
  for (const { callId, text } of snapshot.progress) {
    const at = findCall(draft, callId)
    const item = draft.items[at]
    if (item?.kind === 'call' && item.phase !== 'done') draft.items[at] = { ...item, output: keepTail(text) }
  }
}
