// The sign at the left edge of a row: shape first, colour second.
import {
  Ban,
  ChevronRight,
  CircleDashed,
  CircleHelp,
  FilePen,
  FileText,
  Globe,
  MoveRight,
  Search,
  Square,
  Terminal,
  Trash2,
  Unplug,
  Wrench,
  X,
} from 'lucide-react'
import type { GenericKind } from '@deepseek-ai/dsh-tools'
import type { CallState } from '../state/outcome.ts'

const icons: Record<GenericKind, typeof X> = {
  read: FileText,
  edit: FilePen,
  delete: Trash2,
  move: MoveRight,
  search: Search,
  execute: Terminal,
  fetch: Globe,
  other: Wrench,
}

export function Arc() {
  return (
    <svg viewBox="0 0 16 16" width="14" height="14" className="arc text-accent" aria-hidden="true">
      <circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" strokeOpacity="0.25" strokeWidth="1.8" />
      <path d="M8 2a6 6 0 0 1 6 6" fill="none" stroke="currentColor" strokeWidth="1.8" strokeLinecap="round" />
    </svg>
  )
}

function Sign({ state, kind }: { state: CallState; kind: GenericKind }) {
  const Icon = icons[kind]
  switch (state) {
    case 'pending':
    case 'not-started':
      return <CircleDashed size={14} className="text-ink3" />
    case 'running':
      return <Arc />
    case 'failed':
      return <X size={15} className="text-err" />
    case 'denied':
      return <Ban size={14} className="text-warn" />
    case 'aborted':
      return <Square size={12} className="text-ink3" />
    case 'unknown':
      return <CircleHelp size={14} className="text-ink3" />
    case 'abandoned':
      return <Unplug size={14} className="text-warn" />
    case 'ok':
    case 'bad':
      return <Icon size={14} className="text-ink3" />
    default:
      return state satisfies never
  }
}

export function Glyph(props: { state: CallState; kind: GenericKind }) {
  return (
    <GlyphBox>
      <Sign {...props} />
    </GlyphBox>
  )
}

/** The 20 px gutter; turns into a chevron when its row is pointed at. */
export function GlyphBox({ children, fixed = false }: { children: React.ReactNode; fixed?: boolean }) {
  return (
    <span className="grid w-5 flex-none place-items-center text-ink3" aria-hidden="true">
      <span className={fixed ? '' : 'glyph'}>{children}</span>
      {!fixed && <ChevronRight size={14} className="chevron" />}
    </span>
  )
}
